import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import { sealedPlaces } from './secrets.ts';

const database = await testDatabase();
after(() => database.drop());

test('every column whose name says that it is sealed is known to the change of the master key', async () => {
  const columns = await execute<{ name: string }>(
    database.connectionString,
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and column_name ~ 'sealed' order by 1`,
  );
  assert.deepEqual(
    columns.map(({ name }) => name),
    sealedPlaces.map(({ table, column }) => `${table}.${column}`).toSorted(),
  );
});

test('the key of each such place is the primary key of its table', async () => {
  for (const { table, key } of sealedPlaces) {
    const columns = await execute<{ name: string }>(
      database.connectionString,
      `select a.attname as name from pg_index i join unnest(i.indkey) with ordinality k (attnum, n) on true
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
       where i.indrelid = '${table}'::regclass and i.indisprimary order by k.n`,
    );
    assert.deepEqual(
      columns.map(({ name }) => name),
      key,
    );
  }
});
