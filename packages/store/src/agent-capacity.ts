import { sizeNames, sizes } from '@lodge/domain';
import type { SizeName } from '@lodge/domain';
import type { Committed } from '@lodge/engine/ports';
import type { Transaction } from 'kysely';
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
  };
}

/** The larger of what was asked for and what the machine has: one that was made smaller may not have given memory back yet. */
function sizeHeld(asked: SizeName, machineMemoryMib: number | null): SizeName {
  const memoryMib = Math.max(sizes[asked].memoryMib, machineMemoryMib ?? 0);
  const bySize = sizeNames.toSorted((a, b) => sizes[a].memoryMib - sizes[b].memoryMib);
  return bySize.find((name) => sizes[name].memoryMib >= memoryMib) ?? bySize.at(-1)!;
}
