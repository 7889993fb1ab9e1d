import { cryptography } from '@lodge/access';
import { scopes } from '@lodge/domain';
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { keyByHash } from '@lodge/store/accounts';
import { testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { hashApiKey, makeApiKey } from '../../../../packages/access/src/api-key.ts';
import { ensureFirstKey } from './first-key.ts';
import { createApiKeyVerifier, storedKeys } from '../../../../packages/engine/src/accounts/verify-api-key.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
let database: TestDatabase;
let store: Store;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lodge-first-key-'));
  database = await testDatabase();
  store = await openStore({ connectionString: database.connectionString, log: silent });
});
after(async () => {
  await store?.close();
  await database?.drop();
  await rm(folder, { recursive: true });
});

test('of processes that start at once on an empty database one gets a key; it opens everything, and no later start gets one', async () => {
  const keys = await Promise.all(
    Array.from({ length: 8 }, (_, index) => ensureFirstKey(store.database, join(folder, `at-once-${index}`))),
  );
  const [key, ...more] = keys.filter((each) => each !== null);
  assert.ok(key);
  assert.deepEqual(more, []);
  const verifier = createApiKeyVerifier({
    apiKeys: cryptography.apiKeys,
    keys: storedKeys(store.database),
    log: silent,
  });
  const principal = await verifier.verify(key.plaintext);
  assert.ok(typeof principal === 'object');
  assert.deepEqual(principal.scopes, scopes);
  const row = await store.database.repeatable((db) => keyByHash(db, hashApiKey(key.plaintext)));
  assert.equal(row!.id, principal.by.id);
  const events = await store.events.page({
    accountId: row!.accountId,
    types: ['account.created', 'api_key.created'],
    limit: 10,
    direction: 'asc',
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['account.created', 'api_key.created'],
  );
  await verifier.close();
  await key.shown();
  assert.equal(await ensureFirstKey(store.database, join(folder, 'later')), null);
  assert.deepEqual(await readdir(folder), []);
});

test('a key that took effect and was never shown is shown by the next start, one that did not is forgotten', async () => {
  const other = await testDatabase();
  const fresh = await openStore({ ...other, log: silent });
  const file = join(folder, 'first-key');
  const first = await ensureFirstKey(fresh.database, file);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const again = await ensureFirstKey(fresh.database, file);
  assert.equal(again?.plaintext, first!.plaintext);
  await again?.shown();
  await writeFile(file, makeApiKey());
  assert.equal(await ensureFirstKey(fresh.database, file), null);
  assert.deepEqual(await readdir(folder), []);
  await fresh.close();
  await other.drop();
});
