import { spawn } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { open, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lodge/domain';
import { Client } from 'pg';
import type { Binaries } from './binaries.ts';
import { connectionStringOf, serverEnv, socketName } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { readForeign } from './foreign-file.ts';

/** A running server's first process. The start time tells it from a later process with the same pid. */
export interface Postmaster {
  readonly pid: number;
  /** In clock ticks since boot (proc(5), stat, field 22). */
  readonly startTicks: string;
}

const pollMs = 20;
const answerTimeoutMs = 2_000;
const maxLogBytes = 1024 * 1024;
/** Bytes of the log's end that are read after a failure. */
const tailBytes = 4096;

/** Finds the server of the cluster by its lock file, and checks the process itself. */
export async function findPostmaster(cluster: Pick<Cluster, 'cluster'>): Promise<Postmaster | null> {
  const pid = await pidIn(join(cluster.cluster, 'postmaster.pid'));
  if (!(pid > 1)) return null;
  const startTicks = await startOf(pid);
  // Postgres makes its data folder the working directory, and keeps it.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (startTicks === null || cwd !== (await realpath(cluster.cluster))) return null;
  return { pid, startTicks };
}

/** Returns the pid; NaN when there is none, or the file is not a server's. */
async function pidIn(lock: string): Promise<number> {
  return Number.parseInt((await readForeign(lock).catch(() => null)) ?? '', 10);
}

/** Whether it runs from these binaries, and not from those of another release. */
export async function runsFrom(postmaster: Postmaster, binaries: Binaries): Promise<boolean> {
  const exe = await readlink(`/proc/${postmaster.pid}/exe`).catch(() => null);
  return exe === (await realpath(binaries.postgres));
}

export async function isAlive(postmaster: Postmaster): Promise<boolean> {
  return (await startOf(postmaster.pid)) === postmaster.startTicks;
}

/** Resolves with true when the process is gone, or with false after `timeoutMs`. */
export async function awaitEnd(postmaster: Postmaster, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isAlive(postmaster)) {
    if (performance.now() >= deadline) return false;
    await sleep(pollMs);
  }
  return true;
}

/**
 * Starts a server on the cluster, detached. It outlives a killed control plane, and Ctrl-C at a terminal does not reach it.
 * The caller has made sure that none runs there.
 */
export async function spawnPostmaster(cluster: Cluster, binaries: Binaries): Promise<Postmaster> {
  await removeForeignLocks(cluster);
  const log = await openLog(cluster.logFile);
  try {
    const child = spawn(binaries.postgres, ['-D', cluster.cluster, ...settingsOf(cluster)], {
      ...cluster.user,
      cwd: cluster.dataDir,
      detached: true,
      env: serverEnv,
      stdio: ['ignore', log.fd, log.fd],
    });
    // Without a listener, a failed start would be an uncaught exception; the missing `pid` reports it.
    child.on('error', () => undefined);
    child.unref();
    const startTicks = child.pid === undefined ? null : await startOf(child.pid);
    if (child.pid === undefined || startTicks === null) throw new Error(await failureOf(cluster));
    return { pid: child.pid, startTicks };
  } finally {
    await log.close();
  }
}

function settingsOf(cluster: Cluster): string[] {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: `"${cluster.socketDir}"`,
    // The folder's mode keeps strangers out.
    unix_socket_permissions: cluster.client ? '0777' : '0700',
    hba_file: cluster.hbaFile,
    ident_file: cluster.identFile,
    fsync: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // A statement's error goes to its client, which logs it without data. This log would repeat the data.
    log_min_messages: 'log',
    log_checkpoints: 'off',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * Asks the server for its state. `starting` means that it is up but not ready (recovery, shutdown), `silent` that it did not
 * answer in time.
 */
export async function ask(cluster: Cluster): Promise<'ready' | 'starting' | 'absent' | 'silent'> {
  const client = new Client({
    connectionString: connectionStringOf(cluster),
    connectionTimeoutMillis: answerTimeoutMs,
    query_timeout: answerTimeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return 'ready';
  } catch (error) {
    const { code } = error as { code?: string };
    // cannot_connect_now, too_many_connections
    if (code === '57P03' || code === '53300') return 'starting';
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'absent';
    if (code === undefined || code === 'ECONNRESET' || code === 'EPIPE') return 'silent';
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Waits until the server answers. Rejects when it ends first (with its log) or after `timeoutMs`. */
export async function awaitReady(
  cluster: Cluster,
  postmaster: Postmaster,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let looks = 1; (await ask(cluster)) !== 'ready'; looks += 1) {
    signal.throwIfAborted();
    if (!(await isAlive(postmaster))) throw new Error(await failureOf(cluster));
    if (performance.now() >= deadline)
      throw new Error(`Postgres (pid ${postmaster.pid}) is not ready after ${timeoutMs} ms.`);
    await sleep(backoffMs({ firstMs: pollMs, maxMs: 250, growth: 1.5 }, looks));
  }
}

/** Ends the server in three steps of rising force: roll back and write out, at once, kill. Its data is safe in each. */
export async function endPostmaster(postmaster: Postmaster, fastTimeoutMs: number): Promise<void> {
  for (const [signal, timeoutMs] of [
    ['SIGINT', fastTimeoutMs],
    ['SIGQUIT', 2_000],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!(await isAlive(postmaster))) return;
    try {
      process.kill(postmaster.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    if (await awaitEnd(postmaster, timeoutMs)) return;
  }
  throw new Error(`Postgres (pid ${postmaster.pid}) does not end.`);
}

/**
 * Removes stale lock files. Postgres takes a lock file for valid while any process of its user has the pid in it, be it the
 * zombie of a killed server or, after a reboot, a stranger. It would refuse to start. No server holds the cluster here, so
 * such a file is stale. A new server still cannot start beside processes that a killed one left: Postgres finds them by
 * their shared memory and the data folder's inode, without the file.
 */
async function removeForeignLocks(cluster: Cluster): Promise<void> {
  for (const file of [join(cluster.cluster, 'postmaster.pid'), join(cluster.socketDir, `${socketName}.lock`)]) {
    const pid = await pidIn(file);
    if (pid > 1 && existsSync(`/proc/${pid}`)) await rm(file);
  }
}

/** Returns the start time of a live process; null when there is none, or only its zombie. */
async function startOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name in parentheses may contain anything. Behind it are state (field 3), …, start time (field 22).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19]!;
}

async function openLog(path: string): ReturnType<typeof open> {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size > maxLogBytes) await rename(path, `${path}.1`);
  return open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
}

/** Returns the end of the server's log, which says why it did not start. */
async function failureOf(cluster: Cluster): Promise<string> {
  const log = await endOf(cluster.logFile).catch(() => '');
  return `Postgres did not start: ${log.trim().split('\n').slice(-4).join(' | ') || 'it logged nothing'}`;
}

/** Returns the end of a file that the server writes in any amount. */
async function endOf(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, Math.max(0, size - tailBytes));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
