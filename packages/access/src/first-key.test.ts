import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { migrate, openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { scopes } from '@lodge/engine/ports';
import { hashApiKey } from './api-key.ts';
import { ensureFirstKey } from './first-key.ts';
import { createApiKeyVerifier } from './verifier.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
let database: TestDatabase;
let store: Store;
before(async () => {
  database = await testDatabase();
  await migrate({ connectionString: database.connectionString });
  store = await openStore({ connectionString: database.connectionString, log: silent });
});
after(async () => {
  await store?.close();
  await database?.drop();
});

test('of processes that start at once on an empty database one gets a key; it opens everything, and no later start gets one', async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => ensureFirstKey(store.apiKeys)));
  const [key, ...more] = keys.filter((each) => each !== null);
  assert.ok(key);
  assert.deepEqual(more, []);
  const verifier = createApiKeyVerifier({ store: store.apiKeys, log: silent });
  const principal = await verifier.verify(key);
  assert.ok(typeof principal === 'object');
  assert.deepEqual(principal.scopes, scopes);
  assert.equal((await store.apiKeys.findByHash(hashApiKey(key)))!.id, principal.keyId);
  await verifier.close();
  assert.equal(await ensureFirstKey(store.apiKeys), null);
});
