/** Measurements and output that benchmarks share. */
import { copyFile, open, readFile, rm } from 'node:fs/promises';

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export const millis = (ms: number): string => ms.toFixed(ms < 100 ? 1 : 0);
export const seconds = (ms: number): string => (ms / 1000).toFixed(2);

/** Returns a process's proportional share of the host's memory, MiB. */
export async function pssMib(pid: number): Promise<number> {
  return Number(/^Pss:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) / 1024;
}

/** Returns a process's share of the pages in swap, MiB before any compression. */
export async function swappedMib(pid: number): Promise<number> {
  return Number(/^SwapPss:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) / 1024;
}

/** Returns the memory that a process shares with no other, MiB. */
export async function privateMib(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kib = [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)].map(([, value]) => Number(value));
  return kib.reduce((sum, each) => sum + each, 0) / 1024;
}

export async function memAvailableMib(): Promise<number> {
  return Number(/^MemAvailable:\s+(\d+) kB/m.exec(await readFile('/proc/meminfo', 'utf8'))![1]) / 1024;
}

/** Returns a process's processor time in milliseconds. It says more than the clock when other work takes turns. */
export async function processorMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return ticks * 10;
}

/** Makes a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Returns the accelerator of a VM's emulator: `kvm` or `tcg`. */
export async function acceleratorOf(pid: number): Promise<string> {
  return /-accel\0(\w+)/.exec(await readFile(`/proc/${pid}/cmdline`, 'utf8'))?.[1] ?? 'unknown';
}

/** Writes and syncs bytes that do not compress to nothing, in pieces of a MiB. The file goes again with `removed`. */
export async function writeAndSync(path: string, bytes: number, { removed = true } = {}): Promise<void> {
  const piece = Buffer.alloc(2 ** 20, 'lodge');
  const file = await open(path, 'w');
  try {
    for (let left = bytes; left > 0; left -= piece.length) await file.write(piece, 0, Math.min(left, piece.length));
    await file.sync();
  } finally {
    await file.close();
    if (removed) await rm(path);
  }
}

/** Copies a file and syncs the copy, which goes again. */
export async function copyAndSync(path: string): Promise<void> {
  const copy = `${path}.copy`;
  try {
    await copyFile(path, copy);
    const file = await open(copy, 'r+');
    await file.sync();
    await file.close();
  } finally {
    await rm(copy, { force: true });
  }
}

/** Returns the middle, least and greatest of several figures, rounded. */
export function spread(numbers: readonly number[]): string {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  return `${Math.round(median(numbers))} (${Math.round(least)} to ${Math.round(most)})`;
}
