/** Tests a dump's guarantee: the load restores all of it, row by row and sequence by sequence, or nothing. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { emptyDatabase, execute } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { Client } from 'pg';
import { dumpDatabase, loadDatabase, replaceDatabase } from './dump.ts';
import type { DatabaseFacts } from './dump.ts';
import { migrate } from './migrate.ts';

const migrations = join(import.meta.dirname, 'migrations');

let from: TestDatabase;
const texts = new Map<string, string[]>();
let facts: DatabaseFacts;

before(async () => {
  from = await emptyDatabase();
  await migrate(from);
  await execute(
    from.connectionString,
    `insert into accounts (id, name) select 'acc' || n, E'quoted "\\\\" , () \\n line ' || n from generate_series(1, 450) n`,
  );
  await execute(
    from.connectionString,
    `insert into events (account_id, type, level, created_at, data) select 'acc1', 'agent.created', 1, now(), jsonb_build_object('n', n, 's', E'\\u00e9\\n"') from generate_series(1, 450) n`,
  );
  // Triggers answer these rows with rows of their own, which the dump has too.
  await execute(
    from.connectionString,
    `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
       auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, status, machine_vcpus, machine_memory_mib, machine_disk_gib)
     values ('agent0000001', 'acc1', 'n', 'runtime_a', 'm', 'small', 0, 0, 'auto', true, false, true, '{}', now(), now(), 'running', 1, 512, 4)`,
  );
  facts = await dump(from, texts);
});
after(() => from.drop());

async function dump(database: TestDatabase, into: Map<string, string[]>): Promise<DatabaseFacts> {
  return dumpDatabase(database, async (table, rows) => {
    const pieces: string[] = [];
    for await (const piece of rows) pieces.push(piece);
    into.set(table, pieces);
  });
}

/** Yields pieces that end anywhere, like chunks. */
async function* pieces(table: string): AsyncIterable<string> {
  const text = texts.get(table)!.join('');
  for (let at = 0; at < text.length; at += 1_001) yield text.slice(at, at + 1_001);
}

test('every row and every sequence comes back, and the next id is a new one', async () => {
  assert.ok(facts.tables.some(({ name, rows }) => name === 'accounts' && rows === 450));
  assert.ok(facts.tables.some(({ name, rows }) => name === 'compute_rates' && rows === 1));
  const to = await emptyDatabase();
  try {
    await loadDatabase(to, facts, pieces, [{ text: 'delete from events where id = $1', values: [1] }]);
    const again = new Map<string, string[]>();
    const found = await dump(to, again);
    assert.deepEqual(found.sequences, facts.sequences);
    assert.deepEqual(found.migrations, facts.migrations);
    for (const [table, rows] of texts) {
      const wanted = rows
        .join('')
        .split('\n')
        .slice(table === 'events' ? 1 : 0);
      assert.deepEqual(again.get(table)!.join('').split('\n'), wanted, table);
    }
    assert.deepEqual(await keys(to), await keys(from));
    await execute(
      to.connectionString,
      `insert into events (account_id, type, level, created_at, data) values ('acc1', 'agent.created', 1, now(), '{}')`,
    );
    await assert.rejects(loadDatabase(to, facts, pieces), /is not empty/);
  } finally {
    await to.drop();
  }
});

test('a dump takes the place of all that a later release made, or of nothing', async () => {
  const to = await emptyDatabase();
  try {
    await migrate(to);
    await execute(
      to.connectionString,
      `create table later (n integer); create view of_later as select n from later; create type kind as enum ('a');
       create sequence numbers; create function later_one() returns integer language sql as 'select 1';
       alter table accounts add column later kind`,
    );
    const cutOff = async function* (table: string): AsyncIterable<string> {
      if (table === 'events') throw new Error('cut off');
      yield* pieces(table);
    };
    await assert.rejects(replaceDatabase(to, facts, cutOff, migrations), /cut off/);
    await execute(to.connectionString, `insert into later select 1 from of_later`);
    await replaceDatabase(to, facts, pieces, migrations);
    const again = new Map<string, string[]>();
    const found = await dump(to, again);
    assert.deepEqual(found, facts);
    for (const [table, rows] of texts) assert.equal(again.get(table)!.join(''), rows.join(''), table);
    assert.deepEqual(await keys(to), await keys(from));
    assert.deepEqual((await migrate(to)).applied, []);
    await assert.rejects(execute(to.connectionString, `select later_one()`), /does not exist/);
    await execute(to.connectionString, `create type kind as enum ('b'); create sequence numbers`);
  } finally {
    await to.drop();
  }
});

test('a dump that cannot be loaded leaves no row', async () => {
  const to = await emptyDatabase();
  try {
    const cut = async function* (table: string): AsyncIterable<string> {
      yield* pieces(table);
      if (table === 'events') throw new Error('a chunk is damaged');
    };
    await assert.rejects(loadDatabase(to, facts, cut), /a chunk is damaged/);
    const again = new Map<string, string[]>();
    const { tables } = await dump(to, again);
    assert.equal(tables.find(({ name }) => name === 'accounts')?.rows, 0);
    assert.deepEqual(await keys(to), await keys(from));
  } finally {
    await to.drop();
  }
});

test('a dump of a newer release is refused before anything is made', async () => {
  const to = await emptyDatabase();
  try {
    const newer = { ...facts, migrations: [...facts.migrations, { name: '9999_later.sql', checksum: 'x' }] };
    await assert.rejects(loadDatabase(to, newer, pieces), /a newer release made it/);
  } finally {
    await to.drop();
  }
});

/** Returns foreign keys and triggers, which a load removes meanwhile. */
async function keys({ connectionString }: TestDatabase): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query(
      `select conrelid::regclass::text, conname, convalidated, pg_get_constraintdef(oid) from pg_constraint where contype = 'f' order by conname`,
    );
    const triggers = await client.query(
      `select tgrelid::regclass::text, tgname, tgenabled from pg_trigger where not tgisinternal order by tgname`,
    );
    assert.ok(triggers.rows.length > 0);
    return [...rows, ...triggers.rows];
  } finally {
    await client.end();
  }
}
