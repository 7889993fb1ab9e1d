import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changing, newKey } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { store: here, another } = await testStore();
const there = await another();

test('another process hears of a revoked key at once, and not of one that is merely used', async () => {
  const { id, accountId } = (await here.apiKeys.createFirstAccount('operator', newKey()))!;
  const other = await here.apiKeys.insert(accountId, newKey());
  const heard: (string | null)[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = there.apiKeys.onChange((keyId) => {
    heard.push(keyId);
    resolve();
  });
  await here.apiKeys.recordUse(new Map([[other.id, new Date()]]));
  const began = performance.now();
  await changing(here.accounts, accountId, (tx) => tx.revokeKey(accountId, id));
  await promise;
  const ms = performance.now() - began;
  assert.deepEqual(heard, [id]);
  assert.ok(ms < 900, `${ms} ms`);
  stop();
});
