import { sizeNames, sizes } from '@lodge/domain';
import type { SizeName } from '@lodge/domain';
import type { AgentCount, Committed } from '@lodge/engine/ports';
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** Agents that hold memory. One that is being deleted holds it until nothing of it is left. */
const statusesWithMemory: readonly string[] = ['provisioning', 'running', 'paused'];
/** Operations at whose end an agent holds memory. */
const operationsToMemory: readonly (string | null)[] = ['start', 'resume', 'restart'];

/** What every live agent takes; call it with creates held back. */
export async function readCommitted(trx: Transaction<Schema>, accountId: string): Promise<Committed> {
  const rows = await trx
    .selectFrom('agents')
    .select(['size', 'status', 'operation_kind', 'machine_memory_mib', 'account_id'])
    .where('deleted_at', 'is', null)
    .execute();
  return {
    sizes: rows
      .filter((row) => statusesWithMemory.includes(row.status) || operationsToMemory.includes(row.operation_kind))
      .map((row) => sizeHeld(row.size, row.machine_memory_mib)),
    accountAgents: rows.filter((row) => row.account_id === accountId).length,
    accountRunning: rows.filter((row) => row.account_id === accountId && isRunning(row)).length,
  };
}

/** Runs, or is on its way to it. A paused agent is idle: it counts again when it is resumed. */
const isRunning = (row: { readonly status: string; readonly operation_kind: string | null }): boolean =>
  row.status === 'provisioning' || row.status === 'running' || operationsToMemory.includes(row.operation_kind);

/** Class of the advisory locks under which operations of one account begin, so that two do not take its last place. */
const runningLockClass = 7_306;

export async function countAgents(db: Kysely<Schema>, accountId: string, except = ''): Promise<AgentCount> {
  const rows = await db
    .selectFrom('agents')
    .select(['status', 'operation_kind'])
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .where('id', '<>', except)
    .execute();
  return { all: rows.length, running: rows.filter(isRunning).length };
}

/** Agents of the account but `id` that run or are on their way to it; until the transaction ends nobody else counts them. */
export async function othersRunning(trx: Transaction<Schema>, accountId: string, id: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(${runningLockClass}, hashtext(${accountId}))`.execute(trx);
  return (await countAgents(trx, accountId, id)).running;
}

/** The larger of what was asked for and what the machine has: one that was made smaller may not have given memory back yet. */
function sizeHeld(asked: SizeName, machineMemoryMib: number | null): SizeName {
  const memoryMib = Math.max(sizes[asked].memoryMib, machineMemoryMib ?? 0);
  const bySize = sizeNames.toSorted((a, b) => sizes[a].memoryMib - sizes[b].memoryMib);
  return bySize.find((name) => sizes[name].memoryMib >= memoryMib) ?? bySize.at(-1)!;
}
