/** What a VM takes up now. Everything is asked of the kernel; a VM that ends meanwhile has none of it. */
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { DiskUse, VmUsage } from '@lodge/ports';
import type { HostNetwork } from '../network/index.ts';
import type { Watched } from '../machine/watch.ts';
import { cpuSeconds, isAlive, memoryShare } from '../host/process.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';

const mib = 2 ** 20;

export async function usageOf(
  directory: RunDirectory,
  record: VmRecord | null,
  network: HostNetwork,
): Promise<VmUsage> {
  const process = record?.process && isAlive(record.process) ? record.process : null;
  const slot = record?.slot ?? null;
  const nothing = (): number => 0;
  const [memory, disk, snapshot, cpu, egress] = await Promise.all([
    process ? memoryShare(process).catch(nothing) : 0,
    bytesOf(directory.disk),
    directory.snapshot.diskBytes(),
    process ? cpuSeconds(process).catch(nothing) : 0,
    slot === null ? 0 : network.egressBytes(slot).catch(nothing),
  ]);
  return {
    executionId: record?.executionId ?? null,
    memoryMib: memory / mib,
    diskMib: disk / mib,
    snapshotMib: snapshot / mib,
    cpuSeconds: cpu,
    egressBytes: egress,
  };
}

/** What is on the disk of one agent, a backup of it aside. */
export async function diskUseOf(directory: RunDirectory, vm: Watched | null): Promise<DiskUse> {
  const [disk, log, snapshot] = await Promise.all([
    bytesOf(directory.disk),
    bytesOf(directory.log),
    directory.snapshot.diskBytes(),
  ]);
  const executionId = vm && isAlive(vm.process) ? vm.executionId : null;
  return { agentId: directory.agentId, executionId, diskMib: (disk + log) / mib, snapshotMib: snapshot / mib };
}

/** Bytes that a file takes up; 0 where there is none. */
function bytesOf(path: string): Promise<number> {
  return stat(path).then(
    (found) => found.blocks * 512,
    () => 0,
  );
}

/** The disk of a VM that runs, at once: the kernel has what it tells of a file that is open in memory. */
export function diskUseNow(directory: RunDirectory, { agentId, executionId }: Watched): DiskUse {
  const blocksOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.blocks ?? 0;
  const diskMib = ((blocksOf(directory.disk) + blocksOf(directory.log)) * 512) / mib;
  return { agentId, executionId, diskMib, snapshotMib: 0 };
}
