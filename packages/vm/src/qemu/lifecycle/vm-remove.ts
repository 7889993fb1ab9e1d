/** Takes a VM away, in whatever state it is. */
import type { Cgroups } from '../host/cgroup.ts';
import { exists } from '../host/files.ts';
import { qmpArgument } from '../machine/command-line.ts';
import type { HostNetwork } from '../network/index.ts';
import { findProcesses, isAlive, kill } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { sweepLayers } from '../saved/layers.ts';
import type { SavedStore } from '../saved/machine/saved-store.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';
import { toVmError } from '../../waiting.ts';

export interface RemovalHost {
  readonly network: HostNetwork;
  readonly cgroups: Cgroups;
}

/** The part that is kept. */
export type Kept = 'nothing' | 'disk';

/**
 * Removes a VM. Idempotent, and may be cut off anywhere: the record says `removing` before anything goes, and goes last.
 * Returns the slot that is free now.
 */
export async function removeVm(
  { network, cgroups }: RemovalHost,
  directory: RunDirectory,
  keep: Kept,
): Promise<number | null> {
  const record = await directory.read();
  if (keep === 'disk' && record?.phase === 'disk') return null;
  if (record && record.phase !== 'disk') await announce(directory, record);
  for (const process of await vmProcesses(directory, record)) await kill(process);
  await cgroups.remove(directory.agentId);
  const slot = record?.slot ?? null;
  if (slot !== null) await network.removeNamespace(slot);
  if (keep === 'disk' && (await exists(directory.disk))) {
    await sweepLayers(directory.disk);
    await directory.close();
    // The disk decides, so it is kept even without a readable record.
    if (record) await directory.write({ ...record, phase: 'disk', slot: null, address: null, process: null });
  } else {
    await directory.remove();
  }
  return slot;
}

/** A VM that was to take the place of the machine at rest, and is not whole, has nothing worth keeping. */
export async function worthKeeping(
  directory: RunDirectory,
  keep: Kept,
  store: Pick<SavedStore, 'rest'>,
): Promise<Kept> {
  if (keep === 'nothing') return keep;
  const record = await directory.read();
  const isNothing = record?.isOverRest && record.phase === 'creating' && (await store.rest(directory.agentId));
  return isNothing ? 'nothing' : keep;
}

/** On a full disk it goes without: a removal makes room, and one that is cut off is repeated by whoever asked for it. */
async function announce(directory: RunDirectory, record: VmRecord): Promise<void> {
  await directory.write({ ...record, phase: 'removing' }).catch((error: unknown) => {
    if (toVmError(error).code !== 'disk_full') throw error;
  });
}

/**
 * The VM's QEMU: the recorded one while it lives, else any that names the run directory, because it may have been started
 * and not recorded.
 */
async function vmProcesses(directory: RunDirectory, record: VmRecord | null): Promise<readonly ProcessMark[]> {
  if (record?.process) return isAlive(record.process) ? [record.process] : [];
  const argument = qmpArgument(directory.qmpSocket);
  return findProcesses((candidate) => candidate === argument);
}
