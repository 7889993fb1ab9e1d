import { Refusal, channelNames } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import type { Delivery, Unsayable } from '@lodge/ports';
import { whyUndeliverable } from '@lodge/store/channels';
import type { Transaction } from '@lodge/store/database';

/** The refusal for a missing channel. Null means that no channel has the requested name. */
export const noChannel = (channel: ChannelName | null): Refusal =>
  new Refusal(
    'channel_not_found',
    channel === null
      ? `There is no such channel; there are ${channelNames.join(', ')}.`
      : `The agent has no channel ${channel}.`,
  );

/** Refuses where an answer could not go now where `deliver` says. */
export async function checkDelivery(
  trx: Transaction,
  agent: { readonly accountId: string; readonly agentId: string },
  deliver: Delivery,
): Promise<void> {
  const why = await whyUndeliverable(trx, agent, deliver);
  if (why !== null) throw new Refusal('invalid_request', unsayableWords('deliver.conversation', why));
}

/** Says why nothing can be sent into the conversation that a field names. */
export const unsayableWords = (field: string, why: Unsayable): string =>
  why === 'no_conversation'
    ? `${field} is none that wrote to the agent on this channel.`
    : `${field}: the channel is off, or its access lets in nobody who is there.`;
