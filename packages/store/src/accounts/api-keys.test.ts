import { scopes } from '@lodge/domain';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import { newKey, silent } from '../testing/fixture.ts';
import { openStore } from '../store.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store } = await testStore();
const { apiKeys } = store;

// This test is first in the file, because later tests use the account.
test('of many first starts at once one makes the account and its key, and the rest write nothing', async () => {
  const keys = Array.from({ length: 8 }, () => newKey());
  const made = await Promise.all(keys.map((key) => apiKeys.createFirstAccount('operator', key)));
  assert.equal(made.filter((row) => row !== null).length, 1);
  const counts =
    'select (select count(*)::int from accounts) as accounts, (select count(*)::int from api_keys) as keys';
  assert.deepEqual(await execute(database.connectionString, counts), [{ accounts: 1, keys: 1 }]);
  const winner = keys[made.findIndex((row) => row !== null)]!;
  assert.deepEqual(
    await apiKeys.findByHash(winner.hash),
    made.find((row) => row !== null),
  );
});

async function account(): Promise<string> {
  const [row] = await execute<{ id: string }>(database.connectionString, 'select id from accounts');
  return row!.id;
}

test('a key that cannot be written leaves no account behind', async (t) => {
  const empty = await testDatabase();
  t.after(() => empty.drop());
  const other = await openStore({ ...empty, log: silent });
  t.after(() => other.close());
  await assert.rejects(other.apiKeys.createFirstAccount('operator', newKey({ scopes: [] })), { code: '23514' });
  assert.deepEqual(await execute(empty.connectionString, 'select 1 from accounts'), []);
  assert.notEqual(await other.apiKeys.createFirstAccount('operator', newKey()), null);
});

test('a key is found by its hash alone, with its scopes, expiry and revocation', async () => {
  const accountId = await account();
  const expiresAt = new Date('2031-01-02T03:04:05.678Z');
  const key = newKey({ scopes, expiresAt });
  const row = await apiKeys.insert(accountId, key);
  assert.deepEqual(row, { id: row.id, accountId, scopes, expiresAt, revokedAt: null });
  assert.deepEqual(await apiKeys.findByHash(key.hash), row);
  assert.equal(await apiKeys.findByHash(randomBytes(32)), null);
  await execute(database.connectionString, `update api_keys set revoked_at = '2030-01-01Z' where id = '${row.id}'`);
  assert.deepEqual((await apiKeys.findByHash(key.hash))!.revokedAt, new Date('2030-01-01T00:00:00Z'));
});

test('two keys with one hash, and a scope that does not exist, are refused without repeating the row', async () => {
  const accountId = await account();
  const key = newKey();
  await apiKeys.insert(accountId, key);
  for (const [bad, code] of [
    [key, '23505'],
    [newKey({ scopes: ['admin' as never] }), '23514'],
  ] as const) {
    await assert.rejects(apiKeys.insert(accountId, bad), (error: { code: string; detail?: string }) => {
      assert.equal(error.code, code);
      assert.equal(error.detail, undefined);
      return true;
    });
  }
});

test('use is written for many keys at once, never backwards, and unknown keys are passed over', async () => {
  const accountId = await account();
  const [a, b, c] = [
    await apiKeys.insert(accountId, newKey()),
    await apiKeys.insert(accountId, newKey()),
    await apiKeys.insert(accountId, newKey()),
  ];
  const at = (ms: number) => new Date(1_700_000_000_000 + ms);
  await apiKeys.recordUse(new Map());
  await apiKeys.recordUse(
    new Map([
      [a.id, at(5)],
      [b.id, at(7)],
      ['gone', at(1)],
    ]),
  );
  await apiKeys.recordUse(
    new Map([
      [a.id, at(3)],
      [b.id, at(9)],
    ]),
  );
  const used = async (id: string) =>
    (
      await execute<{ at: Date | null }>(
        database.connectionString,
        `select last_used_at as at from api_keys where id = '${id}'`,
      )
    )[0]!.at;
  assert.deepEqual([await used(a.id), await used(b.id), await used(c.id)], [at(5), at(9), null]);
});

test('writers of the same keys in opposite orders do not deadlock', async () => {
  const accountId = await account();
  const ids = await Promise.all(Array.from({ length: 30 }, async () => (await apiKeys.insert(accountId, newKey())).id));
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => {
      const order = n % 2 === 0 ? ids : ids.toReversed();
      return apiKeys.recordUse(new Map(order.map((id) => [id, new Date()])));
    }),
  );
});
