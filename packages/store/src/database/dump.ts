/**
 * Dumps the rows of a database as text for backups, and loads them into an empty one. The schema is not in the dump, because
 * the migrations make it; the dump names the last migration. So it fits a server of another version, embedded or not, and
 * needs no programs of Postgres. Lodge's own programs have no pg_dump, and one of another version refuses.
 *
 * A row is Postgres's text of the whole row (`row::text`), which it reads again. Every type has such a form, and it loses
 * nothing. All tables are of one moment: one snapshot of one transaction, which locks out no writer.
 */
import type { Client } from 'pg';
import type { DatabaseConfig } from './connection.ts';
import { connectClient } from './connection.ts';
import { MigrationError, migrate, migrateWithin } from './migrate.ts';

export interface DatabaseFacts {
  readonly version: 1;
  /** Migrations as in `schema_migrations`, the last one last. */
  readonly migrations: readonly { readonly name: string; readonly checksum: string }[];
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  /** The position of each sequence of an identity column. */
  readonly sequences: readonly { readonly name: string; readonly value: string; readonly called: boolean }[];
}

/** Rows of one table, each as JSON of its text on a separate line. */
export type TableText = AsyncIterable<string>;

/** Rows read or written at once. One may have a megabyte. */
const batchRows = 200;
const migrationsTable = 'schema_migrations';
const sameText = `set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres';
  set extra_float_digits = 1; set statement_timeout = 0`;

/** Dumps the database. `take` receives each table's rows and must read them to their end. */
export async function dumpDatabase(
  config: DatabaseConfig,
  take: (table: string, rows: TableText) => Promise<void>,
): Promise<DatabaseFacts> {
  return withClient(config, async (client) => {
    await client.query('begin isolation level repeatable read, read only');
    const { rows: migrations } = await client.query<{ name: string; checksum: string }>(
      `select name, checksum from ${migrationsTable} order by version`,
    );
    const tables: { name: string; rows: number }[] = [];
    for (const name of await tablesOf(client)) {
      const counted = { name, rows: 0 };
      await take(name, rowsOf(client, counted));
      tables.push(counted);
    }
    const sequences = await sequencesOf(client);
    await client.query('commit');
    return { version: 1, migrations, tables, sequences };
  });
}

/**
 * Fills an empty database. All rows appear in one transaction, after the dump's migrations; the next start runs later ones.
 * `finish` adds statements to that transaction. Throws `MigrationError` for a database that is not empty, or a dump of a
 * newer release.
 */
export async function loadDatabase(
  config: DatabaseConfig,
  facts: DatabaseFacts,
  read: (table: string) => TableText,
  finish: readonly { readonly text: string; readonly values: readonly unknown[] }[] = [],
): Promise<void> {
  const last = facts.migrations.at(-1);
  if (last === undefined) throw new MigrationError('The backup has a database without migrations.');
  if (!(await isEmptyDatabase(config))) {
    throw new MigrationError('The database to restore into is not empty. Give an empty one; nothing was changed.');
  }
  await migrate(config, undefined, last);
  await withClient(config, async (client) => {
    await client.query('begin');
    await fillAll(client, facts, read);
    for (const { text, values } of finish) await client.query(text, [...values]);
    await client.query('commit');
  });
}

/**
 * Replaces all rows of a database with a dump, in one transaction: a kill leaves the old rows. `migrations` is the folder of
 * the dump's migrations. Others must not be connected, because it waits 30 s for a lock.
 */
export async function replaceDatabase(
  config: DatabaseConfig,
  facts: DatabaseFacts,
  read: (table: string) => TableText,
  migrations: string,
): Promise<void> {
  const last = facts.migrations.at(-1);
  if (last === undefined) throw new MigrationError('The copy has a database without migrations.');
  await withClient(config, async (client) => {
    await client.query('begin');
    await client.query(`set local lock_timeout = '30s'`);
    await empty(client);
    await migrateWithin(client, migrations, last);
    await fillAll(client, facts, read);
    await client.query('commit');
  });
}

async function fillAll(client: Client, facts: DatabaseFacts, read: (table: string) => TableText): Promise<void> {
  const names = facts.tables.map(({ name }) => name);
  const foreignKeys = await foreignKeysOf(client);
  for (const { table, name } of foreignKeys) await client.query(`alter table ${table} drop constraint ${name}`);
  // The dump has the rows made by triggers, and those inserted by migrations.
  for (const name of names) await client.query(`alter table ${quoted(name)} disable trigger user`);
  if (names.length > 0) await client.query(`truncate ${names.map(quoted).join(', ')}`);
  for (const name of names) await fill(client, name, read(name));
  for (const { name, value, called } of facts.sequences) {
    await client.query('select setval($1::regclass, $2::bigint, $3)', [quoted(name), value, called]);
  }
  for (const name of names) await client.query(`alter table ${quoted(name)} enable trigger user`);
  for (const { table, name, definition } of foreignKeys) {
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
  }
}

/** Removes everything that migrations made, rows too. Objects of extensions stay. */
async function empty(client: Client): Promise<void> {
  const { rows } = await client.query<{ command: string }>(
    `select format('drop %s if exists %s cascade', kind, name) as command from (
       select case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end as kind,
              oid::regclass::text as name, 'pg_class'::regclass as class, oid
       from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
       union all
       select 'routine', oid::regprocedure::text, 'pg_proc'::regclass, oid
       from pg_proc where pronamespace = current_schema()::regnamespace
       union all
       select 'type', oid::regtype::text, 'pg_type'::regclass, oid
       from pg_type where typnamespace = current_schema()::regnamespace and typtype in ('e', 'd')
     ) made
     where not exists (
       select from pg_depend d where d.classid = made.class and d.objid = made.oid and d.deptype = 'e'
     )
     order by array_position(array['view', 'materialized view', 'table', 'sequence', 'routine', 'type'], kind)`,
  );
  for (const { command } of rows) await client.query(command);
}

export async function isEmptyDatabase(config: DatabaseConfig): Promise<boolean> {
  return withClient(config, async (client) => (await tablesOf(client, true)).length === 0);
}

async function withClient<T>(config: DatabaseConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectClient(config);
  try {
    await client.query(sameText);
    return await work(client);
  } finally {
    // Closing the connection undoes everything uncommitted.
    await client.end();
  }
}

async function tablesOf(client: Client, all = false): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and ($1 or c.relname <> $2) order by c.relname`,
    [all, migrationsTable],
  );
  return rows.map(({ name }) => name);
}

async function* rowsOf(client: Client, table: { readonly name: string; rows: number }): TableText {
  await client.query(`declare dumped no scroll cursor for select t::text as row from ${quoted(table.name)} t`);
  for (;;) {
    const { rows } = await client.query<{ row: string }>(`fetch ${batchRows} from dumped`);
    if (rows.length === 0) break;
    table.rows += rows.length;
    yield rows.map(({ row }) => `${JSON.stringify(row)}\n`).join('');
  }
  await client.query('close dumped');
}

async function fill(client: Client, name: string, pieces: TableText): Promise<void> {
  const table = quoted(name);
  const text = `insert into ${table} overriding system value select * from unnest($1::${table}[])`;
  let batch: string[] = [];
  for await (const line of linesOf(pieces)) {
    batch.push(JSON.parse(line) as string);
    if (batch.length < batchRows) continue;
    await client.query(text, [batch]);
    batch = [];
  }
  if (batch.length > 0) await client.query(text, [batch]);
}

async function* linesOf(pieces: TableText): AsyncIterable<string> {
  let rest: string[] = [];
  for await (const piece of pieces) {
    const lines = piece.split('\n');
    if (lines.length === 1) {
      rest.push(piece);
      continue;
    }
    yield [...rest, lines[0]!].join('');
    for (const line of lines.slice(1, -1)) yield line;
    rest = [lines.at(-1)!];
  }
}

async function sequencesOf(client: Client): Promise<{ name: string; value: string; called: boolean }[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'S' order by relname`,
  );
  const found: { name: string; value: string; called: boolean }[] = [];
  for (const { name } of rows) {
    const sequence = await client.query<{ value: string; called: boolean }>(
      `select last_value::text as value, is_called as called from ${quoted(name)}`,
    );
    found.push({ name, ...sequence.rows[0]! });
  }
  return found;
}

async function foreignKeysOf(client: Client): Promise<{ table: string; name: string; definition: string }[]> {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace and conparentid = 0
     order by conname`,
  );
  return rows;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
