/** The writes of a create. */
import { sql } from 'kysely';
import type { Insertable } from 'kysely';
import { insertKeys } from './agent-decisions.ts';
import { agentColumns, now } from './agent-row.ts';
import type { NewAgent } from './facts.ts';
import type { Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Agents } from '../database/tables.ts';

/** Holds other creates back until the commit is visible, so the next one counts this agent. */
export async function holdCreates(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.createAgent})`.execute(trx);
}

export async function insertAgent(trx: Transaction, agent: NewAgent): Promise<void> {
  // The time is later than the account's latest, even when the clock was set back, so pages read before stay as they were.
  const createdAt = sql<Date>`(
    select greatest(clock_timestamp(), max(created_at) + interval '1 millisecond')
    from agents where account_id = ${agent.accountId} and deleted_at is null
  )`;
  const { llmKeys, channels: _, ...fields } = agent;
  await trx
    .insertInto('agents')
    .values({ ...(agentColumns(fields) as Insertable<Agents>), createdAt, updatedAt: now })
    .execute();
  await insertKeys(trx, agent.id, llmKeys);
}

/** Names of the account's agents, those that are being deleted apart. */
export async function agentNames(trx: Transaction, accountId: string): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('agents')
    .select('name')
    .where('accountId', '=', accountId)
    .where('deletedAt', 'is', null)
    .execute();
  return rows.map(({ name }) => name);
}
