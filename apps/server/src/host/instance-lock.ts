/**
 * One control plane per data folder. The lock is a listening abstract unix socket: the kernel gives it to one process and
 * takes it back the moment that process ends, however it ends, so there is no stale lock to break. Beside it lies a file
 * that says who holds it, for `npm run down`.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';

/** A process that cannot be mistaken for a later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat: start time in clock ticks since boot. */
  readonly startTime: string;
}

export class AlreadyRunningError extends Error {
  constructor(dataDir: string, holder: ProcessMark | null) {
    super(
      `Lodge already runs on ${dataDir}${holder ? ` (pid ${holder.pid})` : ''}. Stop it first, or set LODGE_DATA_DIR to another folder.`,
    );
    this.name = 'AlreadyRunningError';
  }
}

const fileIn = (dataDir: string): string => join(dataDir, 'control-plane.json');

/** Takes the lock or throws `AlreadyRunningError`. Give it back with the returned function; ending the process does too. */
export async function lockInstance(dataDir: string): Promise<() => Promise<void>> {
  const name = createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  const bound = Promise.withResolvers<void>();
  server.once('error', bound.reject).listen(`\0lodge-${name}`, bound.resolve);
  try {
    await bound.promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new AlreadyRunningError(dataDir, await lockHolder(dataDir));
  }
  server.unref();
  const mark: ProcessMark = { pid: process.pid, startTime: (await startTimeOf(process.pid)) ?? '' };
  const file = fileIn(dataDir);
  await writeFile(`${file}.new`, `${JSON.stringify(mark)}\n`);
  await rename(`${file}.new`, file);
  return async () => {
    await rm(file, { force: true });
    server.close();
  };
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
