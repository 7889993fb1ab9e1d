/** Takes a VM away, whatever of it there is. */
import { access } from 'node:fs/promises';
import type { Cgroups } from './cgroup.ts';
import { qmpArgument } from './command-line.ts';
import type { HostNetwork } from './network/index.ts';
import { findProcesses, isAlive, kill } from './process.ts';
import type { ProcessMark } from './process.ts';
import type { RunDirectory, VmRecord } from './run-directory.ts';

export interface RemovalHost {
  readonly network: HostNetwork;
  readonly cgroups: Cgroups;
}

/**
 * Idempotent, and may be cut off anywhere: the record says `removing` before anything goes, and goes last. Gives the slot
 * that is free now.
 */
export async function removeVm(
  { network, cgroups }: RemovalHost,
  directory: RunDirectory,
  keepDisk: boolean,
): Promise<number | null> {
  const record = await directory.read();
  const onlyDisk = record?.phase === 'disk';
  if (onlyDisk && keepDisk) return null;
  if (record && !onlyDisk) await directory.write({ ...record, phase: 'removing' });
  for (const process of await vmProcesses(directory, record)) await kill(process);
  await cgroups.remove(directory.agentId);
  const slot = record?.slot ?? null;
  if (slot !== null) await network.removeNamespace(slot);
  if (keepDisk && (await exists(directory.disk))) {
    await directory.keepDiskOnly();
    // Without a record that can be read the disk is kept all the same: it is what counts.
    if (record) await directory.write({ ...record, phase: 'disk', slot: null, address: null, process: null });
  } else {
    await directory.remove();
  }
  return slot;
}

/** The VM's QEMU: the recorded one while it lives, else any that names the run directory, for it may have been started and not recorded. */
async function vmProcesses(directory: RunDirectory, record: VmRecord | null): Promise<readonly ProcessMark[]> {
  if (record?.process) return isAlive(record.process) ? [record.process] : [];
  const argument = qmpArgument(directory.qmpSocket);
  return findProcesses((candidate) => candidate === argument);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
