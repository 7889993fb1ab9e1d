import { Refusal, channelNames } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';

/** Null: no channel has the name that was asked for. */
export const noChannel = (channel: ChannelName | null): Refusal =>
  new Refusal(
    'channel_not_found',
    channel === null
      ? `There is no such channel; there are ${channelNames.join(', ')}.`
      : `The agent has no channel ${channel}.`,
  );
