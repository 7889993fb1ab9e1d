import { operationsToMemory, sizeHeld, statusesWithMemory } from '@lodge/domain';
import type { SizeName } from '@lodge/domain';
import type { AgentCount, AgentHolder, Committed } from '@lodge/ports';
import { sql } from 'kysely';
import type { ExpressionBuilder, ExpressionWrapper, Kysely, SqlBool, Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { advisoryLockClasses } from '../database/locks.ts';

/** Reads the resources of every live agent. Call it while creates are held back. */
export async function readCommitted(trx: Transaction<Schema>, accountId: string): Promise<Committed> {
  const there = await holders(trx);
  const { all, running } = await countAgents(trx, accountId);
  return { sizes: sizesOf(there), holders: there, accountAgents: all, accountRunning: running };
}

/** Sizes of the agents that hold memory. */
export async function sizesHeld(db: Kysely<Schema>, except = ''): Promise<readonly SizeName[]> {
  return sizesOf((await holders(db)).filter(({ id }) => id !== except));
}

/** Returns all agents that hold resources. A deleted one holds them until nothing of it is left. */
export async function holders(db: Kysely<Schema>): Promise<readonly AgentHolder[]> {
  const rows = await db
    .selectFrom('agents')
    .select(['id', 'size', 'machine_memory_mib', 'host'])
    .select((eb) =>
      eb
        .or([eb('status', 'in', statusesWithMemory), eb('operation_kind', 'in', operationsToMemory)])
        .$castTo<boolean | null>()
        .as('holds_memory'),
    )
    .where('deleted_at', 'is', null)
    .execute();
  return rows.map(({ id, size, machine_memory_mib: memoryMib, host, holds_memory: holds }) => ({
    id,
    size: sizeHeld(size, memoryMib ?? 0),
    host,
    // Without an operation the comparison is null.
    holdsMemory: holds === true,
  }));
}

const sizesOf = (all: readonly AgentHolder[]): SizeName[] =>
  all.filter(({ holdsMemory }) => holdsMemory).map(({ size }) => size);

/** A condition: the agent runs or is about to run. A paused agent is idle and counts again when it is resumed. */
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

/** Counts the account's agents but `id` that run or are about to run. Until the transaction ends nobody else counts them. */
export async function othersRunning(trx: Transaction<Schema>, accountId: string, id: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(${advisoryLockClasses.runningQuota}, hashtext(${accountId}))`.execute(trx);
  return (await countAgents(trx, accountId, id)).running;
}
