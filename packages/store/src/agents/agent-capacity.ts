import { operationsToMemory, sizeHeld, statusesWithMemory } from '@lodge/domain';
import type { SizeName } from '@lodge/domain';
import type { AgentCount, Committed } from '@lodge/ports';
import { sql } from 'kysely';
import type { ExpressionBuilder, ExpressionWrapper, Kysely, SqlBool, Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { advisoryLockClasses } from '../database/locks.ts';

/** What every live agent takes; call it with creates held back. */
export async function readCommitted(trx: Transaction<Schema>, accountId: string): Promise<Committed> {
  const held = await sizesHeld(trx);
  const { all, running } = await countAgents(trx, accountId);
  return { sizes: held, accountAgents: all, accountRunning: running };
}

/** Sizes of the agents that hold memory. One that is being deleted holds it until nothing of it is left. */
export async function sizesHeld(db: Kysely<Schema>, except = ''): Promise<readonly SizeName[]> {
  const rows = await db
    .selectFrom('agents')
    .select(['size', 'machine_memory_mib'])
    .where('deleted_at', 'is', null)
    .where('id', '<>', except)
    .where((eb) => eb.or([eb('status', 'in', statusesWithMemory), eb('operation_kind', 'in', operationsToMemory)]))
    .execute();
  return rows.map((row) => sizeHeld(row.size, row.machine_memory_mib ?? 0));
}

/** Runs, or is on its way to it. A paused agent is idle: it counts again when it is resumed. */
const isRunning = (eb: ExpressionBuilder<Schema, 'agents'>): ExpressionWrapper<Schema, 'agents', SqlBool> =>
  eb.or([eb('status', 'in', ['provisioning', 'running']), eb('operation_kind', 'in', operationsToMemory)]);

export async function countAgents(db: Kysely<Schema>, accountId: string, except = ''): Promise<AgentCount> {
  const { all, running } = await db
    .selectFrom('agents')
    .select((eb) => [
      eb.fn.countAll<string>().as('all'),
      eb.fn.countAll<string>().filterWhere(isRunning(eb)).as('running'),
    ])
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .where('id', '<>', except)
    .executeTakeFirstOrThrow();
  return { all: Number(all), running: Number(running) };
}

/** Agents of the account but `id` that run or are on their way to it; until the transaction ends nobody else counts them. */
export async function othersRunning(trx: Transaction<Schema>, accountId: string, id: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(${advisoryLockClasses.runningQuota}, hashtext(${accountId}))`.execute(trx);
  return (await countAgents(trx, accountId, id)).running;
}
