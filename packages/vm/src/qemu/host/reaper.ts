/**
 * A process that outlives this one, with a parent that does, too. The parent is a shell that waits for it, records how it
 * ended, and ends. Only the parent of a process learns its exit code or signal, and a control plane that adopts a VM is not
 * its parent.
 *
 * The exit file exists before the process and has room for the answer, so a full disk loses none:
 *
 *   bytes 0..7  blank while it runs; then the shell's word for the end, and a line end: 0..127 an exit code, above 128 a
 *               signal and 128
 *   from 8 on   where it did not end well: what it had printed and nobody had read
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { VmError } from '@lodge/ports';
import { until } from '../../waiting.ts';
import { environment, preferToKill, readMark } from './process.ts';
import type { ProcessMark } from './process.ts';

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: number | null;
  /** Its last output that nobody had read; the pipe holds 64 KiB. */
  readonly words: string;
}

export interface Reaped extends ProcessMark {
  /** The reaper. It must be moved wherever the process is, so that the end of a group of Lodge's ends neither. */
  readonly reaperPid: number;
}

export interface ReapedOptions {
  /** The exit file, which is made anew. */
  readonly exitFile: string;
  /** The non-blocking pipe for its output. */
  readonly output: number;
  /** Its descriptor 4, if it has one. */
  readonly input: number | null;
}

const blank = ' '.repeat(8);
/** The start time of a process that never began. */
const never = -1;
const startTimeoutMs = 20_000;
/** Bound on the shell's report: it learns of the end at once, and writes a line. */
const endTimeoutMs = 2000;

/** Starts a command in a session of its own, below its reaper. It gets nothing of this process' environment. */
export async function spawnReaped(command: readonly string[], options: ReapedOptions): Promise<Reaped> {
  const [status, words] = await createExitFile(options.exitFile);
  try {
    const child = spawn('sh', ['-c', scriptOf(command)], {
      cwd: '/',
      detached: true,
      env: environment,
      stdio: ['ignore', 'ignore', 'ignore', options.output, options.input ?? 'ignore', status.fd, words.fd, 'pipe'],
    });
    child.unref();
    const pid = await pidFrom(child);
    await preferToKill(pid);
    // The pid of a process that has ended by now means nothing any more, and the exit file says how it ended.
    const mark = readMark(pid) ?? { pid, startTime: never };
    return { ...mark, reaperPid: child.pid! };
  } finally {
    await Promise.all([status.close(), words.close()]);
  }
}

/** How the process ended; null where it still runs, or nobody saw its end. */
export async function readEnd(exitFile: string): Promise<ProcessEnd | null> {
  const file = await open(exitFile, 'r').catch(() => null);
  if (!file) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(blank.length + 65_536), 0, null, 0);
    const text = buffer.subarray(0, bytesRead).toString('utf8');
    const status = /^(\d{1,3})\n/.exec(text)?.[1];
    if (status === undefined) return null;
    const number = Number(status);
    const words = text.slice(blank.length);
    return number > 128 ? { code: null, signal: number - 128, words } : { code: number, signal: null, words };
  } finally {
    await file.close();
  }
}

/** The same for a process that has just gone. */
export async function awaitEnd(exitFile: string): Promise<ProcessEnd | null> {
  if (!(await stat(exitFile).catch(() => null))) return null;
  const wait = { what: 'how a process ended', everyMs: 5, timeoutMs: endTimeoutMs };
  return until(() => readEnd(exitFile), wait).catch(() => null);
}

/** Descriptors of the shell: 3 is the command's output, 4 its own, 5 and 6 the exit file, 7 reports its pid. */
function scriptOf(command: readonly string[]): string {
  const quoted = command.map((part) => `'${part.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  return [
    `{ exec ${quoted} >&3 2>&3 3>&- 5>&- 6>&- 7>&-; } &`,
    'echo $! >&7; exec 4<&- 7>&-',
    'wait $!; end=$?',
    // Unread output would be lost with the pipe.
    '[ $end = 0 ] || cat <&3 >&6',
    'echo $end >&5',
  ].join('\n');
}

/** Two handles on the file, at its beginning and behind the blank. */
async function createExitFile(path: string): Promise<readonly [FileHandle, FileHandle]> {
  // A late reaper still writes into its own file.
  await rm(path, { force: true });
  const words = await open(path, 'wx', 0o600);
  try {
    await words.write(blank);
    return [await open(path, 'r+'), words];
  } catch (error) {
    await words.close();
    throw error;
  }
}

async function pidFrom(child: ChildProcess): Promise<number> {
  const report = (child.stdio as readonly unknown[])[7] as Socket;
  const signal = AbortSignal.timeout(startTimeoutMs);
  try {
    const [text] = (await Promise.race([
      once(report, 'data', { signal }),
      once(child, 'exit', { signal }).then(() => {
        throw new VmError('failed', 'the reaper of a process ended at once');
      }),
    ])) as [Buffer];
    return Number(text.toString());
  } finally {
    report.destroy();
  }
}
