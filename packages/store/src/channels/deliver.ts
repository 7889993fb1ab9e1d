/** Where the answer of a turn goes that nobody waits for: the columns of a schedule or a hook. */
import type { ChannelDestination, Delivery, Unsayable } from '@lodge/ports';
import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { whyUnsayable } from './say.ts';
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
