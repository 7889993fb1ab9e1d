/** A VM's resource usage now. The kernel answers everything; a VM that ends meanwhile uses nothing. */
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

/** Disk usage of one agent, without its backup. */
export async function diskUseOf(directory: RunDirectory, vm: Watched | null): Promise<DiskUse> {
  const [disk, log, snapshot] = await Promise.all([
    bytesOf(directory.disk),
    bytesOf(directory.log),
    directory.snapshot.diskBytes(),
  ]);
  const executionId = vm && isAlive(vm.process) ? vm.executionId : null;
  return { agentId: directory.agentId, executionId, diskMib: (disk + log) / mib, snapshotMib: snapshot / mib };
}

/** Bytes that a file occupies; 0 where there is none. */
function bytesOf(path: string): Promise<number> {
  return stat(path).then(
    (found) => found.blocks * 512,
    () => 0,
  );
}

/** The disk usage of a running VM, at once: the kernel has the figures of an open file in memory. */
export function diskUseNow(directory: RunDirectory, { agentId, executionId }: Watched): DiskUse {
  const blocksOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.blocks ?? 0;
  const diskMib = ((blocksOf(directory.disk) + blocksOf(directory.log)) * 512) / mib;
  return { agentId, executionId, diskMib, snapshotMib: 0 };
}
