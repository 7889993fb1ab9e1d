import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';

/** Notifies the makers of runs once the transaction is committed. */
export async function tellWork(trx: Transaction<Schema>, agentId: string): Promise<void> {
  await sql`select pg_notify('schedule_work', ${agentId})`.execute(trx);
}
