import { statfsSync } from 'node:fs';
import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';

const mib = 2 ** 20;

export interface Space {
  readonly totalMib: number;
  /** What a process without privileges may still write. */
  readonly freeMib: number;
}

/** Space of the file system that a folder is on. */
export async function freeSpace(folder: string): Promise<Space> {
  return spaceOf(await statfs(folder));
}

/** The same at once: the kernel has it in memory, while a thread for it may be behind others that wait for a busy disk. */
export function freeSpaceNow(folder: string): Space {
  return spaceOf(statfsSync(folder));
}

function spaceOf({ blocks, bavail, bsize }: StatsFs): Space {
  return { totalMib: Math.floor((blocks * bsize) / mib), freeMib: Math.floor((bavail * bsize) / mib) };
}
