/**
 * Delivers the answer of a turn that nobody waits for: its columns, of a schedule or a hook, and its way into the outbox.
 */
import { firstBytes, maxEventAnswerBytes } from '@lodge/domain';
import type { DeliverTarget } from '@lodge/domain';
import type { ChannelDestination, Delivery, Unsayable } from '@lodge/ports';
import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { sayInConversation, whyUnsayable } from './say.ts';
import type { DeliverColumns } from './tables.ts';

export const toDelivery = (row: DeliverColumns): Delivery => ({
  to: row.deliver_to,
  channel: row.deliver_channel,
  conversation: row.deliver_conversation,
});

/** Returns null when an answer could be delivered now, or goes into no conversation. */
export async function whyUndeliverable(
  trx: Transaction<Schema>,
  { accountId, agentId }: Pick<ChannelDestination, 'accountId' | 'agentId'>,
  { channel, conversation: conversationId }: Delivery,
): Promise<Unsayable | null> {
  if (channel === null || conversationId === null) return null;
  return whyUnsayable(trx, { accountId, agentId, channel, conversationId });
}

const undelivered: Readonly<Record<Unsayable, string>> = {
  no_conversation: 'The agent answered, but the conversation that the answer goes to is not there any more.',
  not_allowed:
    'The agent answered, but the channel that the answer goes to is off, or its access lets in nobody of the conversation.',
};

interface Answered extends DeliverColumns {
  readonly account_id: string;
  readonly agent_id: string;
}

/**
 * Queues the answer within the transaction that ends its work. Returns the reason why it could not be delivered; null when
 * it was, or goes into no conversation.
 */
export async function deliverAnswer(
  trx: Transaction<Schema>,
  { account_id: accountId, agent_id: agentId, ...row }: Answered,
  answer: string | null,
): Promise<string | null> {
  const { deliver_channel: channel, deliver_conversation: conversationId } = row;
  if (answer === null || answer.trim() === '' || channel === null || conversationId === null) return null;
  const said = await sayInConversation(trx, { accountId, agentId, channel, conversationId }, answer);
  return said === 'queued' ? null : undelivered[said];
}

/** Returns the event fields about the answer's destination. */
export const deliveryFacts = (to: DeliverTarget, answer: string | null) => ({
  deliver: to,
  ...(to === 'webhook' && { answer: firstBytes(answer ?? '', maxEventAnswerBytes) }),
});
