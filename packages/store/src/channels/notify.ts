import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';

/**
 * Notifies listeners once the transaction is committed. `channel_changed` is for those who show or hold the channel;
 * `channel_work` says that there is work.
 */
export async function notify(
  trx: Transaction<Schema>,
  agentId: string,
  ...topics: readonly ('channel_changed' | 'channel_work')[]
): Promise<void> {
  await sql`select pg_notify(topic, ${agentId}) from unnest(${topics}::text[]) topic`.execute(trx);
}
