import { cryptography } from '@lodge/access';
import { scopes } from '@lodge/domain';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '@lodge/ports';
import type { KeyRow, NewKey } from '@lodge/store/accounts';
import { hashApiKey, makeApiKey } from '../../../access/src/api-key.ts';
import { createApiKeyVerifier } from './verify-api-key.ts';
import type { KnownKeys } from './verify-api-key.ts';

type Row = Pick<KeyRow, 'id' | 'accountId' | 'scopes' | 'expiresAt' | 'revokedAt'>;

/** Keys in memory, with a count of the look-ups: these tests look at the caching. */
class MemoryKeys implements KnownKeys {
  readonly rows = new Map<string, Row>();
  readonly uses: ReadonlyMap<string, Date>[] = [];
  lookUps = 0;
  failing = false;

  async find(hash: Uint8Array): Promise<Row | undefined> {
    this.lookUps++;
    if (this.failing) throw new Error('database is away');
    return this.rows.get(Buffer.from(hash).toString('hex'));
  }
  insert(accountId: string, { hash, scopes }: Pick<NewKey, 'hash' | 'scopes'>): void {
    const row = { id: `k${this.rows.size}`, accountId, scopes, expiresAt: null, revokedAt: null };
    this.rows.set(Buffer.from(hash).toString('hex'), row);
  }
  async recordUse(uses: ReadonlyMap<string, Date>): Promise<void> {
    if (this.failing) throw new Error('database is away');
    this.uses.push(new Map(uses));
  }
  change(key: string, change: Partial<Row>): void {
    const id = hashApiKey(key).toString('hex');
    this.rows.set(id, { ...this.rows.get(id)!, ...change });
  }
}

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };

async function setUp() {
  const store = new MemoryKeys();
  const time = { now: Date.UTC(2026, 0, 1) };
  const verifier = createApiKeyVerifier({
    apiKeys: cryptography.apiKeys,
    keys: store,
    log,
    clock: () => new Date(time.now),
  });
  const key = makeApiKey();
  store.insert('account', { hash: hashApiKey(key), scopes });
  return { store, time, verifier, key };
}

test('a key is who it was made for', async () => {
  const { verifier, key } = await setUp();
  assert.deepEqual(await verifier.verify(key), { accountId: 'account', scopes, by: { kind: 'api_key', id: 'k0' } });
});

test('a mistyped key costs no look-up, an unknown one costs one a second', async () => {
  const { store, time, verifier, key } = await setUp();
  assert.equal(await verifier.verify(`${key.slice(0, -1)}-`), 'invalid_api_key');
  assert.equal(store.lookUps, 0);
  const unknown = makeApiKey();
  for (let i = 0; i < 10; i++) assert.equal(await verifier.verify(unknown), 'invalid_api_key');
  assert.equal(store.lookUps, 1);
  time.now += 1000;
  await verifier.verify(unknown);
  assert.equal(store.lookUps, 2);
});

test('a key made a moment after it was refused works within a second', async () => {
  const { store, time, verifier } = await setUp();
  const key = makeApiKey();
  assert.equal(await verifier.verify(key), 'invalid_api_key');
  store.insert('other', { hash: hashApiKey(key), scopes: ['agents:read'] });
  time.now += 1000;
  assert.deepEqual(await verifier.verify(key), {
    accountId: 'other',
    scopes: ['agents:read'],
    by: { kind: 'api_key', id: 'k1' },
  });
});

test('a burst of requests with one key asks the store once', async () => {
  const { store, verifier, key } = await setUp();
  await Promise.all(Array.from({ length: 500 }, () => verifier.verify(key)));
  assert.equal(store.lookUps, 1);
});

test('a revoked key fails within a second, also when the clock is set back meanwhile', async () => {
  const { store, time, verifier, key } = await setUp();
  await verifier.verify(key);
  store.change(key, { revokedAt: new Date(time.now) });
  time.now += 1000;
  assert.equal(await verifier.verify(key), 'revoked_api_key');
  store.change(key, { revokedAt: null });
  time.now += 1000;
  await verifier.verify(key);
  store.change(key, { revokedAt: new Date(time.now) });
  time.now -= 3_600_000;
  assert.equal(await verifier.verify(key), 'revoked_api_key');
});

test('a key is forgotten at once when the store tells that it changed, also one being looked up then', async () => {
  const { store, key } = await setUp();
  const listeners: ((keyId: string | null) => void)[] = [];
  const onChange = (listener: (keyId: string | null) => void) => (listeners.push(listener), () => listeners.pop());
  const verifier = createApiKeyVerifier({
    apiKeys: cryptography.apiKeys,
    keys: store,
    onChange,
    log,
    clock: () => new Date(0),
  });
  for (const changed of ['k0', null]) {
    store.change(key, { revokedAt: null });
    listeners[0]!('k0');
    assert.equal(typeof (await verifier.verify(key)), 'object');
    store.change(key, { revokedAt: new Date(0) });
    listeners[0]!('other');
    assert.equal(typeof (await verifier.verify(key)), 'object', 'another key changed: this one is remembered');
    listeners[0]!(changed);
    assert.equal(await verifier.verify(key), 'revoked_api_key');
  }
  store.change(key, { revokedAt: null });
  listeners[0]!(null);
  const early = verifier.verify(key);
  store.change(key, { revokedAt: new Date(0) });
  listeners[0]!('k0');
  await early;
  assert.equal(await verifier.verify(key), 'revoked_api_key', 'what the look-up under way read is not remembered');
  await verifier.close();
  assert.equal(listeners.length, 0);
});

test('a key ends at its very moment, cached or not', async () => {
  const { store, time, verifier, key } = await setUp();
  store.change(key, { expiresAt: new Date(time.now + 100) });
  assert.equal(typeof (await verifier.verify(key)), 'object');
  time.now += 100;
  assert.equal(await verifier.verify(key), 'expired_api_key');
});

test('a store that fails is an error, not a refusal, and is asked again at once', async () => {
  const { store, verifier, key } = await setUp();
  store.failing = true;
  await assert.rejects(verifier.verify(key), /database is away/);
  store.failing = false;
  assert.equal(typeof (await verifier.verify(key)), 'object');
});

test('a flood of made-up keys does not push out real ones', async () => {
  const { store, verifier, key } = await setUp();
  await verifier.verify(key);
  for (let i = 0; i < 10_500; i++) await verifier.verify(makeApiKey());
  const before = store.lookUps;
  await verifier.verify(key);
  assert.equal(store.lookUps, before);
});

test('last uses are written together, newest time of each key, refused keys not at all', async () => {
  const { store, time, verifier, key } = await setUp();
  await verifier.verify(key);
  time.now += 5000;
  await verifier.verify(key);
  await verifier.verify(makeApiKey());
  store.failing = true;
  await verifier.close();
  assert.deepEqual(store.uses, []);
  store.failing = false;
  await verifier.close();
  assert.deepEqual(store.uses, [new Map([['k0', new Date(time.now)]])]);
  await verifier.close();
  assert.equal(store.uses.length, 1, 'nothing new, nothing written');
});
