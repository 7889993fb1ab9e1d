/** Why a VM of this host ended, whether the watch of this process saw it, an earlier one, or nobody yet. */
import type { VmDeath } from '@lodge/domain';
import type { VmObservation } from '@lodge/ports';
import type { Cgroups } from '../host/cgroup.ts';
import { bootId } from '../host/process.ts';
import type { ExitWatch } from '../machine/watch.ts';
import { Witness } from '../machine/witness.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';

/** The witness of a VM that an earlier control plane made. */
export function witnessOf(record: VmRecord, directory: RunDirectory, cgroups: Cgroups): Witness {
  const outOfMemoryKill = (): Promise<boolean> => cgroups.outOfMemoryKill(record.agentId);
  const hostRestarted = record.boot !== undefined && record.boot !== bootId();
  return new Witness({ directory, hostRestarted, outOfMemoryKill }, null);
}

interface Places {
  readonly directory: RunDirectory;
  readonly watch: ExitWatch;
  readonly cgroups: Cgroups;
}

/** Returns null if nothing of the agent has ended or stands still by itself. */
export async function deathOf(
  found: Pick<VmObservation, 'state' | 'halted'> | null,
  { directory, watch, cgroups }: Places,
): Promise<VmDeath | null> {
  if (found?.halted) return watch.get(directory.agentId)?.witness.standstill(found.halted) ?? null;
  if (found?.state !== 'dead') return null;
  const record = await directory.read();
  const seen = watch.get(directory.agentId);
  // The watch that saw the VM's end knows its output, and may not have written it down yet.
  if (seen && seen.executionId === record?.executionId) return seen.witness.death();
  const known = await directory.readDeath();
  return known ?? (record && witnessOf(record, directory, cgroups).death());
}
