import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { DatabaseConfig } from './connection.ts';
import { awaitingDatabase, connectClient } from './connection.ts';
import { advisoryLocks } from './locks.ts';

/** Thrown when this code cannot bring a database to its schema. The message says why, for the operator. */
export class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

interface Migration {
  readonly version: number;
  /** File name, such as `0001_initial.sql`. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly checksum: string;
}

const lockTimeoutMs = 120_000;

/**
 * Brings the database to this code's schema: `migrations/NNNN_name.sql` in order, each in a transaction with the row that
 * records it. Concurrent processes wait for each other. It refuses, and changes nothing, when the database has a migration
 * that this code does not know (a newer release made it) or one whose file has changed since. Repeating it is cheap.
 * `folder` holds the migrations: the tests' own, or this package's. `through` is the last one to apply.
 */
export async function migrate(
  config: DatabaseConfig,
  folder = join(import.meta.dirname, 'migrations'),
  through?: LastMigration,
): Promise<{ readonly applied: readonly string[] }> {
  const known = upTo(await readMigrations(folder), through);
  const client = await awaitingDatabase(() => connectClient(config));
  try {
    await lock(client);
    const pending = pendingOf(known, await recorded(client));
    for (const migration of pending) await apply(client, migration);
    return { applied: pending.map(({ name }) => name) };
  } finally {
    // The session holds the lock, so it ends with the connection.
    await client.end();
  }
}

/** Migrates up to `through` in the caller's transaction, in a database without tables. */
export async function migrateWithin(client: Client, folder: string, through: LastMigration): Promise<void> {
  const known = upTo(await readMigrations(folder), through);
  await recorded(client);
  for (const migration of known) await change(client, migration);
}

type LastMigration = Pick<Migration, 'name' | 'checksum'>;

function upTo(known: readonly Migration[], last: LastMigration | undefined): readonly Migration[] {
  if (last === undefined) return known;
  const index = known.findIndex(({ name, checksum }) => name === last.name && checksum === last.checksum);
  if (index !== -1) return known.slice(0, index + 1);
  throw new MigrationError(
    `The backup was made after the migration ${last.name}, which this release does not know: a newer release made it. Restore it with that release.`,
  );
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  if (names.length === 0) throw new MigrationError(`No migrations lie in ${folder}.`);
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]);
      if (version !== index + 1)
        throw new MigrationError(`${name}: migrations are NNNN_name.sql, numbered without a gap.`);
      const sql = await readFile(join(folder, name), 'utf8');
      return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function lock(client: Client): Promise<void> {
  const deadline = performance.now() + lockTimeoutMs;
  for (;;) {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1) as held', [
      advisoryLocks.migration,
    ]);
    if (rows[0]!.held) return;
    if (performance.now() > deadline) {
      throw new MigrationError(`Another process has been migrating this database for ${lockTimeoutMs / 1000} s.`);
    }
    await sleep(100);
  }
}

type Recorded = Pick<Migration, 'version' | 'name' | 'checksum'>;

async function recorded(client: Client): Promise<Recorded[]> {
  await client.query(
    `create table if not exists schema_migrations (
       version integer primary key,
       name text not null,
       checksum text not null,
       applied_at timestamptz not null default now()
     )`,
  );
  const { rows } = await client.query<Recorded>(
    'select version, name, checksum from schema_migrations order by version',
  );
  return rows;
}

function pendingOf(known: readonly Migration[], done: readonly Recorded[]): readonly Migration[] {
  for (const [index, { name, checksum }] of done.entries()) {
    const migration = known[index];
    if (!migration) {
      throw new MigrationError(
        `The database has the migration ${name}, which this release does not know: a newer release made it. Start that release, or restore a backup from before.`,
      );
    }
    if (migration.name !== name || migration.checksum !== checksum) {
      throw new MigrationError(
        `The database was migrated by ${name}, and this release's ${migration.name} is not the same file. A migration is never changed once it is released.`,
      );
    }
  }
  return known.slice(done.length);
}

async function apply(client: Client, migration: Migration): Promise<void> {
  try {
    await client.query('begin');
    await change(client, migration);
    await client.query('commit');
  } catch (cause) {
    // Closing the connection rolls back. An explicit rollback would hide the cause when the connection failed.
    throw new MigrationError(`The migration ${migration.name} failed: ${(cause as Error).message}`, { cause });
  }
}

async function change(client: Client, { version, name, sql, checksum }: Migration): Promise<void> {
  await client.query(sql);
  const row = [version, name, checksum];
  await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', row);
}
