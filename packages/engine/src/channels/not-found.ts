import { Refusal, channelNames } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import type { Unsayable } from '@lodge/ports';

/** Null: no channel has the name that was asked for. */
export const noChannel = (channel: ChannelName | null): Refusal =>
  new Refusal(
    'channel_not_found',
    channel === null
      ? `There is no such channel; there are ${channelNames.join(', ')}.`
      : `The agent has no channel ${channel}.`,
  );

/** `value`, or why an answer cannot go where `deliver` says. */
export function deliverable<Made extends object>(value: Made | Unsayable): Made {
  if (typeof value === 'object') return value;
  throw new Refusal('invalid_request', unsayableWords('deliver.conversation', value));
}

/** Why nothing can be said in the conversation that a field names. */
export const unsayableWords = (field: string, why: Unsayable): string =>
  why === 'no_conversation'
    ? `${field} is none that wrote to the agent on this channel.`
    : `${field}: the channel is off, or its access lets in nobody who is there.`;
