import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';

/** Heard once the transaction is committed. `channel_changed`: by who shows or holds it; `channel_work`: there is something to do. */
export async function notify(
  trx: Transaction<Schema>,
  agentId: string,
  ...topics: readonly ('channel_changed' | 'channel_work')[]
): Promise<void> {
  await sql`select pg_notify(topic, ${agentId}) from unnest(${topics}::text[]) topic`.execute(trx);
}
