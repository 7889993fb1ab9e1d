/** A VM's resource usage now. The kernel answers everything; a VM that ends meanwhile uses nothing. */
import { lstatSync, readdirSync } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { restOf } from '@lodge/ports';
import type { DiskUse, VmUsage } from '@lodge/ports';
import type { HostNetwork } from '../network/index.ts';
import type { Watched } from '../machine/watch.ts';
import { cpuSeconds, isAlive, memoryShare } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { memoryOfSwapped } from '../host/swap.ts';
import { entries } from '../host/files.ts';
import { isDiskFile } from '../saved/layers.ts';
import type { SavedStore } from '../saved/machine/saved-store.ts';
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
  const [memory, disk, cpu, egress] = await Promise.all([
    process ? memoryOf(process).catch(() => noMemory) : noMemory,
    diskBytesOf(directory),
    process ? cpuSeconds(process).catch(nothing) : 0,
    slot === null ? 0 : network.egressBytes(slot).catch(nothing),
  ]);
  return {
    executionId: record?.executionId ?? null,
    memoryMib: memory.held / mib,
    swappedMib: memory.swapped / mib,
    diskMib: disk / mib,
    snapshotMib: 0,
    cpuSeconds: cpu,
    egressBytes: egress,
  };
}

const noMemory = { held: 0, swapped: 0 };

/** The host's memory that a process holds, with the compressed form of its pages in swap. */
async function memoryOf(process: ProcessMark): Promise<typeof noMemory> {
  const { resident, swapped } = await memoryShare(process);
  return { held: resident + (swapped === 0 ? 0 : swapped * (await memoryOfSwapped())), swapped };
}

/** The use of an agent's machine at rest; null when there is none. */
export async function usageAtRest(store: SavedStore, agentId: string): Promise<VmUsage | null> {
  const rest = await store.rest(agentId);
  if (!rest) return null;
  const { diskMib, snapshotMib } = await diskUseAtRest(store, agentId);
  const { executionId } = rest;
  return { executionId, memoryMib: 0, swappedMib: 0, diskMib, snapshotMib, cpuSeconds: 0, egressBytes: 0 };
}

/** Disk usage of an agent's machine at rest. */
export async function diskUseAtRest(store: SavedStore, agentId: string): Promise<DiskUse> {
  const { disk, beside } = await store.filesBytes(restOf(agentId));
  return { agentId, executionId: null, diskMib: disk / mib, snapshotMib: beside / mib };
}

/** Disk usage of one agent's VM. */
export async function diskUseOf(directory: RunDirectory, vm: Watched | null): Promise<DiskUse> {
  const [disk, log] = await Promise.all([diskBytesOf(directory), bytesOf(directory.log)]);
  const executionId = vm && isAlive(vm.process) ? vm.executionId : null;
  return { agentId: directory.agentId, executionId, diskMib: (disk + log) / mib, snapshotMib: 0 };
}

/** Bytes that a file occupies; 0 where there is none. */
function bytesOf(path: string): Promise<number> {
  return stat(path).then(
    (found) => found.blocks * 512,
    () => 0,
  );
}

/** Bytes that all layers of its disk occupy, whoever else has them. */
async function diskBytesOf({ path }: RunDirectory): Promise<number> {
  const names = (await entries(path)).filter((name) => isDiskFile(name));
  const found = await Promise.all(names.map((name) => lstat(join(path, name)).catch(() => null)));
  return found.reduce((sum, file) => sum + (file?.blocks ?? 0) * 512, 0);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The disk usage of a running VM, at once: the kernel has the figures of an open file in memory. */
export function diskUseNow(directory: RunDirectory, { agentId, executionId }: Watched): DiskUse {
  const blocksOf = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0;
  const disk = namesIn(directory.path)
    .filter(isDiskFile)
    .map((name) => blocksOf(join(directory.path, name)));
  const blocks = disk.reduce((sum, each) => sum + each, blocksOf(directory.log));
  const diskMib = (blocks * 512) / mib;
  return { agentId, executionId, diskMib, snapshotMib: 0 };
}
