import { Refusal, channelNames } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import type { Unsayable } from '@lodge/ports';

/** The refusal for a missing channel. Null means that no channel has the requested name. */
export const noChannel = (channel: ChannelName | null): Refusal =>
  new Refusal(
    'channel_not_found',
    channel === null
      ? `There is no such channel; there are ${channelNames.join(', ')}.`
      : `The agent has no channel ${channel}.`,
  );

/** Returns `value`, or refuses with why an answer cannot go where `deliver` says. */
export function deliverable<Made extends object>(value: Made | Unsayable): Made {
  if (typeof value === 'object') return value;
  throw new Refusal('invalid_request', unsayableWords('deliver.conversation', value));
}

/** Says why nothing can be sent into the conversation that a field names. */
export const unsayableWords = (field: string, why: Unsayable): string =>
  why === 'no_conversation'
    ? `${field} is none that wrote to the agent on this channel.`
    : `${field}: the channel is off, or its access lets in nobody who is there.`;
