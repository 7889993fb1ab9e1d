/** Requests while every connection to the database is taken are asked to come again, and served once one is free. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cryptography } from '@lodge/access';
import { createApiKeyVerifier, storedKeys } from '@lodge/engine';
import { openStore } from '@lodge/store';
import { testDatabase } from '@lodge/testkit/postgres';
import { openApp } from '../../../../../packages/testkit/src/plane/http/open-app.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const database = await testDatabase();
const store = await openStore({ ...database, log: silent, maxConnections: 2, waitMs: 300 });
const verifier = createApiKeyVerifier({ apiKeys: cryptography.apiKeys, keys: storedKeys(store.database), log: silent });
const { call, logged, close } = await openApp({
  ...database,
  api: (usual) => ({
    ...usual,
    verifier,
    ready: async () => {
      await store.ping();
      return usual.ready();
    },
  }),
});
after(async () => {
  await close();
  await verifier.close();
  await store.close();
  await database.drop();
});

/** Takes both connections; returns a function that releases them. */
async function takeAll(): Promise<() => Promise<void>> {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const taken = [0, 1].map(() => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const work = store.database.transaction(async () => {
      begin();
      await over;
    });
    return { begun, work };
  });
  await Promise.all(taken.map(({ begun }) => begun));
  return async () => {
    end();
    await Promise.all(taken.map(({ work }) => work));
  };
}

test('with every connection taken a request is a 503 with Retry-After, and is served once one is free', async () => {
  const giveBack = await takeAll();
  for (const [path, key] of [
    ['/v1/sizes', 'all'],
    ['/v1/health', null],
  ] as const) {
    const refused = await call('GET', path, { key });
    assert.deepEqual([refused.status, refused.body.error.code], [503, 'insufficient_capacity'], path);
    assert.equal(refused.body.error.type, 'server_error');
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
    assert.ok(!/connection|database|timeout/i.test(refused.text), 'nothing internal is told');
  }
  assert.ok(
    logged.some((line) => line.includes('more to do than it can')),
    'the operator hears of it',
  );
  await giveBack();
  assert.equal((await call('GET', '/v1/sizes')).status, 200);
});
