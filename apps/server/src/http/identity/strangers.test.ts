/** The cost of strangers: look-ups of made-up keys and sessions are bounded by address, and slow nobody with a valid one. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { cryptography } from '@lodge/access';
import { createApiKeyVerifier } from '@lodge/engine';
import type { ApiKeyRow } from '@lodge/ports';
import { accountId } from '../../../../../packages/testkit/src/plane/http/memory-agents.ts';
import { memoryBuckets } from '../../../../../packages/testkit/src/plane/http/memory-buckets.ts';
import { testApp, unlimited } from '../../../../../packages/testkit/src/plane/http/test-app.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const { apiKeys, tokens } = cryptography;
const attacker = '203.0.113.7';

/** An app over existing keys that counts the store's look-ups: each takes a moment, as a query does. */
function world(good: readonly string[]) {
  const counts = { keys: 0, sessions: 0, atOnce: 0, mostAtOnce: 0 };
  const looking = async <T>(found: () => T): Promise<T> => {
    counts.atOnce += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, counts.atOnce);
    await sleep(2);
    counts.atOnce -= 1;
    return found();
  };
  const rows = new Map(good.map((key) => [Buffer.from(apiKeys.hash(key)).toString('hex'), rowOf(key)]));
  const verifier = createApiKeyVerifier({
    apiKeys,
    store: {
      findByHash: (hash) => {
        counts.keys += 1;
        return looking(() => rows.get(Buffer.from(hash).toString('hex')) ?? null);
      },
      recordUse: async () => undefined,
    },
    log: silent,
  });
  const nobody = {
    registrationOpen: false,
    csrfToken: (token: string) => tokens.csrfOf(token),
    holds: async () => false,
    signedIn: () => {
      counts.sessions += 1;
      return looking(() => null);
    },
  };
  const rates = { reads: 600, writes: 120, creates: 30, calls: 600, address: 60, createsAtOnce: 5 };
  const { app } = testApp({
    verifier,
    limits: { store: memoryBuckets(), rates, quotas: { agents: 1, running: 1 }, spend: unlimited },
    // The test needs no other part of it.
    account: { accounts: nobody as never, spend: unlimited, origin: () => 'http://localhost:8080', pages: null },
  });
  const ask = async (headers: Record<string, string>, address = attacker, url = '/v1/sizes') => {
    const { statusCode, headers: replyHeaders } = await app.inject({ url, headers, remoteAddress: address });
    return { status: statusCode, replyHeaders };
  };
  const guess = (address?: string) => ask({ 'x-api-key': apiKeys.make() }, address);
  return { app, counts, ask, guess };
}

const rowOf = (key: string): ApiKeyRow =>
  ({ id: apiKeys.lastFour(key), accountId, scopes: ['agents:read'], revokedAt: null, expiresAt: null }) as never;

const statuses = (replies: readonly { readonly status: number }[]): Record<number, number> => {
  const counted: Record<number, number> = {};
  for (const { status } of replies) counted[status] = (counted[status] ?? 0) + 1;
  return counted;
};

test('an address over its limit costs hardly a look-up more, however many well-formed keys it makes up', async () => {
  const { app, counts, guess } = world([]);
  const replies = [];
  for (let i = 0; i < 60; i += 1) replies.push(await guess());
  assert.deepEqual(statuses(replies), { 401: 60 });
  const before = counts.keys;
  const began = performance.now();
  const more = await Promise.all(Array.from({ length: 500 }, () => guess()));
  const seconds = (performance.now() - began) / 1000;
  const { 429: refused = 0, 401: counted = 0 } = statuses(more);
  assert.equal(refused + counted, 500);
  assert.ok(counted <= 2 + seconds, `${counted} of them were let through as the bucket filled again`);
  assert.ok(counts.keys - before <= 40 + 12 * seconds, `${counts.keys - before} look-ups in ${seconds} s`);
  for (const { status, replyHeaders } of more) {
    if (status !== 429) continue;
    assert.match(String(replyHeaders['retry-after']), /^[1-9]/);
    assert.equal(String(replyHeaders['x-ratelimit-limit']), '60');
  }
  await app.close();
});

test('a burst of made-up keys is not looked up beyond the limit before its first failures are counted', async () => {
  const { app, counts, guess } = world([]);
  const began = performance.now();
  await Promise.all(Array.from({ length: 400 }, () => guess()));
  const seconds = (performance.now() - began) / 1000;
  assert.ok(counts.keys <= 60 + 40 + 12 * seconds, `${counts.keys} look-ups`);
  assert.ok(counts.mostAtOnce <= 2, `${counts.mostAtOnce} at once`);
  await app.close();
});

test('strangers of many networks never have more than a few look-ups at once', async () => {
  const { app, counts, guess } = world([]);
  await Promise.all(Array.from({ length: 300 }, (_, i) => guess(`198.51.100.${i % 200}`)));
  assert.ok(counts.mostAtOnce <= 4, `${counts.mostAtOnce} at once`);
  await app.close();
});

test('made-up sessions are bounded alike', async () => {
  const { app, counts, ask } = world([]);
  const guess = () => ask({ cookie: `lodge_session=${tokens.make()}` }, attacker, '/v1/account/session');
  const began = performance.now();
  const replies = await Promise.all(Array.from({ length: 400 }, guess));
  const seconds = (performance.now() - began) / 1000;
  assert.ok(counts.sessions <= 60 + 40 + 12 * seconds, `${counts.sessions} look-ups`);
  assert.ok((statuses(replies)[429] ?? 0) >= 300);
  await app.close();
});

test('a good key passes from an address that is over its limit: one in use at once, a new one too', async () => {
  const [used, fresh] = [apiKeys.make(), apiKeys.make()];
  const { app, ask, guess } = world([used, fresh]);
  assert.equal((await ask({ 'x-api-key': used })).status, 200);
  await Promise.all(Array.from({ length: 200 }, () => guess()));
  assert.equal((await guess()).status, 429);
  const guessing = Promise.all(Array.from({ length: 100 }, () => guess()));
  const good = await Promise.all(Array.from({ length: 50 }, () => ask({ 'x-api-key': used })));
  assert.deepEqual(statuses(good), { 200: 50 });
  await guessing;
  // Its turn comes within two seconds once nobody else of its network waits.
  await sleep(2_000);
  assert.equal((await ask({ 'x-api-key': fresh })).status, 200);
  await app.close();
});

test('many good keys that are new here pass at once from one address, and each may come many times at once', async () => {
  const good = Array.from({ length: 100 }, () => apiKeys.make());
  const { app, ask } = world(good);
  const each = await Promise.all(good.map((key) => ask({ 'x-api-key': key })));
  assert.deepEqual(statuses(each), { 200: 100 });
  const { app: second, ask: askSecond } = world([good[0]!]);
  const same = await Promise.all(Array.from({ length: 400 }, () => askSecond({ 'x-api-key': good[0]! })));
  assert.deepEqual(statuses(same), { 200: 400 });
  await app.close();
  await second.close();
});
