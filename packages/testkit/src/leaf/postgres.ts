/**
 * Real Postgres for tests. A whole test run has one embedded server (`shareServer`), and each `testDatabase()` is a database
 * of its own on it: databases share neither tables nor advisory locks nor notifications. A test file that runs by itself
 * starts a server with its first `testDatabase()` and ends it with the last `drop()`.
 *
 * No server outlives its test: a guard process, which holds the reading end of a pipe from the test, ends the server and
 * removes its folder once that pipe closes, which the kernel does however the test ends.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, startEmbeddedPostgres } from '@lodge/store';
import type { EmbeddedPostgres } from '@lodge/store';
import { Client } from 'pg';
import { placePrograms } from './postgres-programs.ts';

export interface TestDatabase {
  readonly connectionString: string;
  /** Removes the database, even with open connections; the last one ends the server. */
  drop(): Promise<void>;
}

/** A folder for one embedded server, guarded: whatever runs on it is ended, and it is removed, when the test process ends. */
export interface TestServerFolder {
  readonly dataDir: string;
  /** System user to start the server with. */
  readonly user: string;
  /** Ends what still runs on the folder and removes it. */
  remove(): Promise<void>;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Set by the test run, without the prefix of Lodge's settings, which a service under test would refuse: where the server that all its files share answers. */
const variable = 'TESTS_POSTGRES_SERVER';

const maxConnections = 500;

/** The database that others are copies of. */
const migrated = 'migrated';

/** Bytes that must be free for a shared server in memory. The tests of the store alone took 176 MiB. */
const roomInMemory = { ofServer: 2 ** 30, ofAll: 4 * 2 ** 30 };

/** For the test run: one server for all files begun from here on. Resolves with what ends it. */
export async function shareServer(): Promise<() => Promise<void>> {
  const { folder, postgres: first } = await startShared(await parentInMemory());
  // Files beside one another have pools of their own; the setting takes a start.
  await execute(first.connectionString, `alter system set max_connections = ${maxConnections}`);
  // No test kills this server, so commits need not wait for the disk. The server's own settings say otherwise; a role's win.
  await execute(first.connectionString, 'alter role lodge set synchronous_commit = off');
  for (const setting of ['fsync = off', "max_wal_size = '256MB'"])
    await execute(first.connectionString, `alter system set ${setting}`);
  await first.stop();
  const postgres = await startEmbeddedPostgres({ ...folder, log: silent });
  process.env[variable] = postgres.connectionString;
  return async () => {
    await postgres.stop();
    await folder.remove();
  };
}

let shared: Promise<{ readonly folder: TestServerFolder; readonly postgres: EmbeddedPostgres }> | null = null;
let databases = 0;

/** A fresh database with all migrations: a copy of one that was migrated once. */
export const testDatabase = (): Promise<TestDatabase> => makeDatabase(`template ${migrated} strategy file_copy`);

/** A fresh database without any migration. */
export const emptyDatabase = (): Promise<TestDatabase> => makeDatabase('');

async function makeDatabase(how: string): Promise<TestDatabase> {
  const server = process.env[variable];
  if (server !== undefined) {
    const database = await createDatabase(server, how);
    return { ...database, drop: database.remove };
  }
  databases += 1;
  shared ??= startShared(tmpdir());
  const { folder, postgres } = await shared;
  const { connectionString, remove } = await createDatabase(postgres.connectionString, how);
  let dropped = false;
  return {
    connectionString,
    async drop() {
      if (dropped) return;
      dropped = true;
      databases -= 1;
      if (databases > 0) return remove();
      shared = null;
      await postgres.stop();
      await folder.remove();
    },
  };
}

/** A database with a name of its own; `remove` may be called again. */
async function createDatabase(
  server: string,
  how: string,
): Promise<{ connectionString: string; remove: () => Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(server, `create database ${name} ${how}`);
  return {
    connectionString: connectionTo(name, server),
    remove: async () => void (await execute(server, `drop database if exists ${name} with (force)`)),
  };
}

/** For tests that start and kill a server of their own. */
export async function testServerFolder(parent = tmpdir()): Promise<TestServerFolder> {
  const dataDir = await mkdtemp(join(parent, 'lodge-test-postgres-'));
  await chmod(dataDir, 0o711);
  const guard = spawn('/bin/sh', ['-c', guardScript, 'guard', dataDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return {
    dataDir,
    user: unprivilegedUser(),
    async remove() {
      guard.ref();
      guard.stdin.end();
      await ended;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Runs one statement on a connection of its own. */
export async function execute<Row extends object>(
  connectionString: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

async function startShared(parent: string): Promise<{ folder: TestServerFolder; postgres: EmbeddedPostgres }> {
  const folder = await testServerFolder(parent);
  await placePrograms(folder.dataDir);
  const postgres = await startEmbeddedPostgres({ ...folder, log: silent });
  await execute(postgres.connectionString, `create database ${migrated}`);
  await migrate({ connectionString: connectionTo(migrated, postgres.connectionString) });
  return { folder, postgres };
}

/**
 * A database is hundreds of files. ext4 takes a tenth of a second of a core to make them where as many were deleted in the
 * last seconds, and memory nearly none. Returns the usual folder where memory is short, or runs no programs.
 */
async function parentInMemory(): Promise<string> {
  const mounts = await readFile('/proc/mounts', 'utf8');
  const options = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(mounts)?.[1]?.split(',');
  if (!options || options.includes('noexec') || process.availableMemory() < roomInMemory.ofAll) return tmpdir();
  const { bavail, bsize } = await statfs('/dev/shm');
  return bavail * bsize < roomInMemory.ofServer ? tmpdir() : '/dev/shm';
}

const connectionTo = (name: string, server: string): string => server.replace(/[^/]+$/, name);

/** The user the set-up script makes for Postgres; on a machine without it, the one that owns nothing. */
function unprivilegedUser(): string {
  try {
    execFileSync('id', ['-u', 'lodge'], { stdio: 'ignore' });
    return 'lodge';
  } catch {
    return 'nobody';
  }
}

/**
 * Waits for the pipe to close, then ends every process that works in the folder (as Postgres and initdb do): SIGQUIT, which
 * a server obeys at once, until none is seen for three rounds (a started one needs a moment to show), SIGKILL after 2.5 s.
 */
const guardScript = `
read -r _
quiet=0 round=0 signal=QUIT
while [ $quiet -lt 3 ] && [ $round -lt 100 ]; do
  quiet=$((quiet + 1)) round=$((round + 1))
  [ $round -gt 50 ] && signal=KILL
  for process in $(find /proc/[0-9]*/cwd -maxdepth 0 '(' -lname "$1" -o -lname "$1/*" ')' -printf '%h '); do
    kill -$signal "\${process#/proc/}"
    quiet=0
  done
  sleep 0.05
done
rm -rf "$1"
`;
