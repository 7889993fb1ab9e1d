import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstAccount, makeKey } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { recordKeyUse, revokeKeys } from './keys.ts';

const { store: here, another } = await testStore();
const there = await another();

test('another process hears of a revoked key at once, and not of one that is merely used', async () => {
  const accountId = await firstAccount(here.database);
  const { id } = await makeKey(here.database, accountId);
  const other = await makeKey(here.database, accountId);
  const heard: (string | null)[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = there.changes.on('api_key_changed', (keyId) => {
    heard.push(keyId);
    resolve();
  });
  await here.database.repeatable((db) => recordKeyUse(db, new Map([[other.id, new Date()]])));
  const began = performance.now();
  await here.database.transaction((trx) => revokeKeys(trx, accountId, id));
  await promise;
  const ms = performance.now() - began;
  assert.deepEqual(heard, [id]);
  assert.ok(ms < 900, `${ms} ms`);
  stop();
});
