import { readFile } from 'node:fs/promises';

/** Memory of the host in MiB, from /proc/meminfo. */
export async function hostMemory(): Promise<{ readonly totalMib: number; readonly availableMib: number }> {
  const text = await readFile('/proc/meminfo', 'utf8');
  const mib = (name: string): number =>
    Math.floor(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)![1]) / 1024);
  return { totalMib: mib('MemTotal'), availableMib: mib('MemAvailable') };
}
