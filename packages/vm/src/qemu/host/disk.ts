import { statfs } from 'node:fs/promises';

const mib = 2 ** 20;

/** Space of the file system that a folder is on, MiB: what it has, and what a process without privileges may still write. */
export async function freeSpace(folder: string): Promise<{ readonly totalMib: number; readonly freeMib: number }> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return { totalMib: Math.floor((blocks * bsize) / mib), freeMib: Math.floor((bavail * bsize) / mib) };
}
