import { statfsSync } from 'node:fs';
import type { StatsFs } from 'node:fs';
import { statfs, readFile } from 'node:fs/promises';

const mib = 2 ** 20;

export interface Space {
  readonly totalMib: number;
  /** Space that a process without privileges may still write. */
  readonly freeMib: number;
}

/** The space of a folder's file system. */
export async function freeSpace(folder: string): Promise<Space> {
  return spaceOf(await statfs(folder));
}

/** The same without a wait: the kernel has it in memory, while a thread for it may wait behind others for a busy disk. */
export function freeSpaceNow(folder: string): Space {
  return spaceOf(statfsSync(folder));
}

function spaceOf({ blocks, bavail, bsize }: StatsFs): Space {
  return { totalMib: Math.floor((blocks * bsize) / mib), freeMib: Math.floor((bavail * bsize) / mib) };
}

/** Memory of the host in MiB, from /proc/meminfo. */
export async function hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }> {
  const text = await readFile('/proc/meminfo', 'utf8');
  const mib = (name: string): number =>
    Math.floor(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)![1]) / 1024);
  return { totalMib: mib('MemTotal'), availableMib: mib('MemAvailable') };
}
