import { sql } from 'kysely';
import type { Transaction } from '../database/database.ts';

export interface LockedAgent {
  readonly id: string;
  readonly accountId: string;
  readonly desired: 'running' | 'deleted';
}

/**
 * Locks the agent's row until the transaction ends; undefined when there is none. `for update` would wait for, and delay, every
 * writer of a row that refers to the agent.
 */
export async function lockAgent(trx: Transaction, id: string): Promise<LockedAgent | undefined> {
  const { rows } = await sql<LockedAgent>`
    select id, account_id, desired from agents where id = ${id} and deleted_at is null for no key update
  `.execute(trx);
  return rows[0];
}
