/**
 * One control plane per data folder. The lock is a listening abstract unix socket: the kernel gives it to one process and
 * takes it back when that process ends in any way, so there is no stale lock to break. A file beside it names the holder,
 * for `npm run down`.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ifThere, NamedError } from '@lodge/domain';

/** Identifies a process, even against a later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: start time in clock ticks since boot. */
  readonly startTime: string;
}

export class AlreadyRunningError extends NamedError {
  constructor(dataDir: string, holder: ProcessMark | null) {
    super(
      `Lodge already runs on ${dataDir}${holder ? ` (pid ${holder.pid})` : ''}. Stop it first, or set LODGE_DATA_DIR to another folder.`,
    );
  }
}

/** A mark in a data folder: an unfinished restore. Nothing starts on it. Its text is the command that goes on. */
export const restoreMark = 'restore-unfinished';

/** A file in a data folder: the holder of the lock. */
export const lockFile = 'control-plane.json';
const fileIn = (dataDir: string): string => join(dataDir, lockFile);

/** Takes the lock or throws `AlreadyRunningError`. Give it back with the returned function; ending the process does too. */
export async function lockInstance(dataDir: string): Promise<() => Promise<void>> {
  const server = await bind(socketName(dataDir));
  if (server === null) throw new AlreadyRunningError(dataDir, await lockHolder(dataDir));
  const mark: ProcessMark = { pid: process.pid, startTime: (await startTimeOf(process.pid)) ?? '' };
  const file = fileIn(dataDir);
  await writeFile(`${file}.new`, `${JSON.stringify(mark)}\n`);
  await rename(`${file}.new`, file);
  return async () => {
    await rm(file, { force: true });
    server.close();
  };
}

/**
 * The lock of the process without privileges, which ends a moment after a killed machine host: waits for it at most
 * `timeoutMs`. Held until this process ends.
 */
export async function lockControlPlane(dataDir: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while ((await bind(`${socketName(dataDir)}-control-plane`)) === null) {
    if (performance.now() > deadline) throw new Error(`An earlier control plane on ${dataDir} does not end.`);
    await sleep(lockEveryMs);
  }
}

const lockEveryMs = 10;

const socketName = (dataDir: string): string =>
  `\0lodge-${createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 32)}`;

/** Null when another process has the name. */
async function bind(name: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  const bound = Promise.withResolvers<void>();
  server.once('error', bound.reject).listen(name, bound.resolve);
  try {
    await bound.promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return null;
  }
  return server.unref();
}

/** The control plane that runs on this data folder, or null when none does. */
export async function lockHolder(dataDir: string): Promise<ProcessMark | null> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch(() => null);
  if (text === null) return null;
  const mark = JSON.parse(text) as ProcessMark;
  return (await startTimeOf(mark.pid)) === mark.startTime ? mark : null;
}

/** Start time of a process, or null when there is no such process. */
export async function startTimeOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  // The second field is the command in parentheses and may hold anything; the fields after the last one are plain.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

export class UnfinishedRestoreError extends NamedError {
  constructor(dataDir: string, command: string) {
    super(
      `A restore into ${dataDir} did not come to its end. Run the same npm run lodge -- ${command} again: it begins anew.`,
    );
  }
}

/** Rejects with `UnfinishedRestoreError` while half of a backup is there: a start would take agents' disks for leftovers. */
export async function assertRestored(dataDir: string): Promise<void> {
  const text = await ifThere(readFile(join(dataDir, restoreMark), 'utf8'));
  if (text !== null) throw new UnfinishedRestoreError(dataDir, text || 'restore');
}
