import { scopes } from '@lodge/domain';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { firstAccount, makeKey, newKey } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { keyByHash, recordKeyUse } from './keys.ts';

const { database, store } = await testStore();

const accountId = await firstAccount(store.database);
const insert = (key?: ReturnType<typeof newKey>) => makeKey(store.database, accountId, key);
const byHash = (hash: Uint8Array) => store.database.repeatable((db) => keyByHash(db, hash));
const recordUse = (uses: ReadonlyMap<string, Date>) => store.database.repeatable((db) => recordKeyUse(db, uses));

test('a key is found by its hash alone, with its scopes, expiry and revocation', async () => {
  const expiresAt = new Date('2031-01-02T03:04:05.678Z');
  const key = newKey({ scopes, expiresAt });
  const row = await insert(key);
  assert.deepEqual([row.accountId, row.scopes, row.expiresAt, row.revokedAt], [accountId, scopes, expiresAt, null]);
  assert.deepEqual(await byHash(key.hash), row);
  assert.equal(await byHash(randomBytes(32)), undefined);
  await execute(database.connectionString, `update api_keys set revoked_at = '2030-01-01Z' where id = '${row.id}'`);
  assert.deepEqual((await byHash(key.hash))!.revokedAt, new Date('2030-01-01T00:00:00Z'));
});

test('two keys with one hash, and a scope that does not exist, are refused without repeating the row', async () => {
  const key = newKey();
  await insert(key);
  for (const [bad, code] of [
    [key, '23505'],
    [newKey({ scopes: ['admin' as never] }), '23514'],
  ] as const) {
    await assert.rejects(insert(bad), (error: { code: string; detail?: string }) => {
      assert.equal(error.code, code);
      assert.equal(error.detail, undefined);
      return true;
    });
  }
});

test('use is written for many keys at once, never backwards, and unknown keys are passed over', async () => {
  const [a, b, c] = [await insert(), await insert(), await insert()];
  const at = (ms: number) => new Date(1_700_000_000_000 + ms);
  await recordUse(new Map());
  await recordUse(
    new Map([
      [a.id, at(5)],
      [b.id, at(7)],
      ['gone', at(1)],
    ]),
  );
  await recordUse(
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
  const ids = await Promise.all(Array.from({ length: 30 }, async () => (await insert()).id));
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => {
      const order = n % 2 === 0 ? ids : ids.toReversed();
      return recordUse(new Map(order.map((id) => [id, new Date()])));
    }),
  );
});
