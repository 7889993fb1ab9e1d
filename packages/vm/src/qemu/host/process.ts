/**
 * Processes on this host: starts a VM's QEMU so that it outlives this process, tells it from a later process with the same
 * pid, finds it again when nobody recorded its pid, and ends it.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { VmError } from '@lodge/ports';
import { until } from '../../waiting.ts';

/** Identifies a process, even against a later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: start time in clock ticks since boot. */
  readonly startTime: number;
}

export interface SpawnOptions {
  /** File descriptor for standard output and error. Absent: both are discarded. */
  readonly output?: number;
  /** Further descriptors, at 3 and up. */
  readonly descriptors?: readonly number[];
}

/** The environment of every process that is started here. */
export const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Starts a command in a session of its own. It gets nothing of this process' environment. */
export async function spawnDetached(command: readonly string[], options: SpawnOptions): Promise<ProcessMark> {
  const [file, ...parameters] = command;
  const output = options.output ?? 'ignore';
  const child = spawn(file!, parameters, {
    cwd: '/',
    detached: true,
    env: environment,
    stdio: ['ignore', output, output, ...(options.descriptors ?? [])],
  });
  const failure = Promise.withResolvers<never>();
  child.once('error', failure.reject);
  // Nobody needs a later error; the QMP connection notices the end of the process.
  failure.promise.catch(() => undefined);
  child.unref();
  if (child.pid === undefined) return failure.promise;
  const mark = readMark(child.pid);
  if (!mark) throw new VmError('failed', `${file}: ended at once`);
  await preferToKill(child.pid);
  return mark;
}

/** Makes the kernel kill a VM before the control plane and its database when memory runs out. */
export async function preferToKill(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, '500').catch(() => undefined);
}

/** The process that has this pid now; null when there is none or only its entry in the process table is left. */
export function readMark(pid: number): ProcessMark | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses and may hold anything; the fields after the last parenthesis are plain.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return { pid, startTime: Number(fields[19]) };
  } catch {
    return null;
  }
}

/** Names this boot of the host. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** Linux counts a process' time in hundredths of a second, whatever the kernel's own tick (USER_HZ). */
const ticksPerSecond = 100;

/** CPU time that the process has used, seconds: fields 14 and 15 of /proc/<pid>/stat. */
export async function cpuSeconds({ pid }: ProcessMark): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export interface MemoryShare {
  /** The process' share of the host's memory (PSS), bytes. */
  readonly resident: number;
  /** Its share of the pages in swap (SwapPss), bytes as they were before any compression. */
  readonly swapped: number;
}

export async function memoryShare({ pid }: ProcessMark): Promise<MemoryShare> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const bytes = (field: RegExp): number => Number(field.exec(rollup)?.[1] ?? 0) * 1024;
  return { resident: bytes(/^Pss:\s+(\d+) kB$/m), swapped: bytes(/^SwapPss:\s+(\d+) kB$/m) };
}

export function isAlive(mark: ProcessMark): boolean {
  return readMark(mark.pid)?.startTime === mark.startTime;
}

/** Kills a process and waits until it is gone. Succeeds if it is gone already. */
export async function kill(mark: ProcessMark, timeoutMs = 60_000): Promise<void> {
  if (!isAlive(mark)) return;
  try {
    process.kill(mark.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  await awaitExit(mark, timeoutMs);
}

export async function awaitExit(mark: ProcessMark, timeoutMs: number, signal?: AbortSignal): Promise<void> {
  const wait = { what: `end of process ${mark.pid}`, everyMs: 2, timeoutMs, ...(signal ? { signal } : {}) };
  await until(() => (isAlive(mark) ? null : true), wait);
}

export interface FoundProcess extends ProcessMark {
  readonly argv: readonly string[];
}

/** Finds every process of this host whose command line has an argument that `wanted` accepts. */
export async function findProcesses(wanted: (argument: string) => boolean): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const argv = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (!argv.some(wanted)) continue;
    const mark = readMark(Number(entry));
    if (mark) found.push({ ...mark, argv });
  }
  return found;
}
