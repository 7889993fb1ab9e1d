import { operationsAsleep, operationsToMemory, sizeHeld, statusesWithMemory } from '@lodge/domain';
import { sql } from 'kysely';
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import type { AgentCount, AgentHolder, Committed } from './facts.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { advisoryLockClasses } from '../database/locks.ts';
import type { DB } from '../database/tables.ts';

/** Reads the resources of every live agent. Call it while creates are held back. */
export async function readCommitted(trx: Transaction, accountId: string): Promise<Committed> {
  const there = await holders(trx);
  const { all, running } = await countAgents(trx, accountId);
  return { holders: there, accountAgents: all, accountRunning: running };
}

/** Returns all agents that hold resources. A deleted one holds them until nothing of it is left. */
export async function holders(db: Queries): Promise<readonly AgentHolder[]> {
  const rows = await db
    .selectFrom('agents')
    .select(['id', 'size', 'machineMemoryMib', 'host', 'status', 'operationKind', 'pausedAt'])
    .select((eb) =>
      eb
        .or([eb('status', 'in', statusesWithMemory), eb('operationKind', 'in', operationsToMemory)])
        .$castTo<boolean | null>()
        .as('holdsMemory'),
    )
    .where('deletedAt', 'is', null)
    .execute();
  return rows.map(({ id, size, machineMemoryMib, host, holdsMemory, status, operationKind, pausedAt }) => ({
    id,
    size: sizeHeld(size, machineMemoryMib ?? 0),
    host,
    // Without an operation the comparison is null.
    holdsMemory: holdsMemory === true,
    asleepSince:
      status === 'paused' && (operationKind === null || operationsAsleep.some((kind) => kind === operationKind))
        ? pausedAt
        : null,
  }));
}

/** Paused agents of the host, with the time of their pause. */
export async function pausedAgents(
  db: Queries,
  host: string,
): Promise<readonly { readonly id: string; readonly pausedAt: Date }[]> {
  const rows = await db
    .selectFrom('agents')
    .select(['id', 'pausedAt'])
    .where('deletedAt', 'is', null)
    .where('host', '=', host)
    .where('status', '=', 'paused')
    .execute();
  return rows.flatMap(({ id, pausedAt }) => (pausedAt === null ? [] : [{ id, pausedAt }]));
}

/** A condition: the agent runs or is about to run. A paused agent is idle and counts again when it is resumed. */
const isRunning = (eb: ExpressionBuilder<DB, 'agents'>): ExpressionWrapper<DB, 'agents', SqlBool> =>
  eb.or([eb('status', 'in', ['provisioning', 'running']), eb('operationKind', 'in', operationsToMemory)]);

export async function countAgents(db: Queries, accountId: string, except = ''): Promise<AgentCount> {
  const { all, running } = await db
    .selectFrom('agents')
    .select((eb) => [
      eb.fn.countAll<string>().as('all'),
      eb.fn.countAll<string>().filterWhere(isRunning(eb)).as('running'),
    ])
    .where('accountId', '=', accountId)
    .where('deletedAt', 'is', null)
    .where('id', '<>', except)
    .executeTakeFirstOrThrow();
  return { all: Number(all), running: Number(running) };
}

/** Counts the account's agents but `id` that run or are about to run. Until the transaction ends nobody else counts them. */
export async function othersRunning(trx: Transaction, accountId: string, id: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(${advisoryLockClasses.runningQuota}, hashtext(${accountId}))`.execute(trx);
  return (await countAgents(trx, accountId, id)).running;
}
