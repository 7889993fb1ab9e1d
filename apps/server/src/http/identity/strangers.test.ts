/** The cost of strangers: look-ups of made-up keys and sessions are bounded by address, and slow nobody with a valid one. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, beforeEach, test } from 'node:test';
import { cryptography } from '@lodge/access';
import { createApiKeyVerifier, storedKeys } from '@lodge/engine';
import { insertKey } from '@lodge/store/accounts';
import { openApp } from '../../../../../packages/testkit/src/plane/http/open-app.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const { apiKeys, tokens } = cryptography;

/** Look-ups of the store since the test began; each takes a moment longer than it would. */
let counts = { keys: 0, sessions: 0, atOnce: 0, mostAtOnce: 0 };
const looking = async <T>(look: () => Promise<T>): Promise<T> => {
  counts.atOnce += 1;
  counts.mostAtOnce = Math.max(counts.mostAtOnce, counts.atOnce);
  await sleep(2);
  const found = await look();
  counts.atOnce -= 1;
  return found;
};

const verifier = createApiKeyVerifier({
  apiKeys,
  keys: {
    find(hash) {
      counts.keys += 1;
      return looking(() => storedKeys(store.database).find(hash));
    },
    recordUse: (uses) => storedKeys(store.database).recordUse(uses),
  },
  log: silent,
});
const { app, store, accountId, close } = await openApp({
  settings: { LODGE_RATE_ADDRESS: '60' },
  api(usual) {
    const { accounts } = usual;
    const counted: typeof accounts = {
      ...accounts,
      signedIn(...given) {
        counts.sessions += 1;
        return looking(() => accounts.signedIn(...given));
      },
    };
    return { ...usual, verifier, accounts: counted };
  },
});
after(async () => {
  await close();
  await verifier.close();
});

/** Each test asks from an address, and a network, of its own. */
let attacker = '';
let tests = 0;
beforeEach(() => {
  counts = { keys: 0, sessions: 0, atOnce: 0, mostAtOnce: 0 };
  tests += 1;
  attacker = `203.0.113.${tests}`;
});

const ask = async (headers: Record<string, string>, address = attacker, url = '/v1/sizes') => {
  const { statusCode, headers: replyHeaders } = await app.inject({ url, headers, remoteAddress: address });
  return { status: statusCode, replyHeaders };
};
const guess = (address?: string) => ask({ 'x-api-key': apiKeys.make() }, address);

async function goodKey(): Promise<string> {
  const made = apiKeys.make();
  const row = { accountId, name: 'good', hash: apiKeys.hash(made), last4: apiKeys.lastFour(made) };
  await store.database.transaction((trx) => insertKey(trx, { ...row, scopes: ['agents:read'] }));
  return made;
}

const statuses = (replies: readonly { readonly status: number }[]): Record<number, number> => {
  const counted: Record<number, number> = {};
  for (const { status } of replies) counted[status] = (counted[status] ?? 0) + 1;
  return counted;
};

test('an address over its limit costs hardly a look-up more, however many well-formed keys it makes up', async () => {
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
});

test('a burst of made-up keys is not looked up beyond the limit before its first failures are counted', async () => {
  const began = performance.now();
  await Promise.all(Array.from({ length: 400 }, () => guess()));
  const seconds = (performance.now() - began) / 1000;
  assert.ok(counts.keys <= 60 + 40 + 12 * seconds, `${counts.keys} look-ups`);
  assert.ok(counts.mostAtOnce <= 2, `${counts.mostAtOnce} at once`);
});

test('strangers of many networks never have more than a few look-ups at once', async () => {
  await Promise.all(Array.from({ length: 300 }, (_, i) => guess(`198.51.100.${i % 200}`)));
  assert.ok(counts.mostAtOnce <= 4, `${counts.mostAtOnce} at once`);
});

test('made-up sessions are bounded alike', async () => {
  const guess = () => ask({ cookie: `lodge_session=${tokens.make()}` }, attacker, '/v1/account/session');
  const began = performance.now();
  const replies = await Promise.all(Array.from({ length: 400 }, guess));
  const seconds = (performance.now() - began) / 1000;
  assert.ok(counts.sessions <= 60 + 40 + 12 * seconds, `${counts.sessions} look-ups`);
  assert.ok((statuses(replies)[429] ?? 0) >= 300);
});

test('a good key passes from an address that is over its limit: one in use at once, a new one too', async () => {
  const [used, fresh] = [await goodKey(), await goodKey()];
  assert.equal((await ask({ 'x-api-key': used })).status, 200);
  await Promise.all(Array.from({ length: 200 }, () => guess()));
  // One a second may come back meanwhile.
  while ((await guess()).status !== 429);
  const guessing = Promise.all(Array.from({ length: 100 }, () => guess()));
  const good = await Promise.all(Array.from({ length: 50 }, () => ask({ 'x-api-key': used })));
  assert.deepEqual(statuses(good), { 200: 50 });
  await guessing;
  // Its turn comes within two seconds once nobody else of its network waits.
  await sleep(2_000);
  assert.equal((await ask({ 'x-api-key': fresh })).status, 200);
});

test('many good keys that are new here pass at once from one address, and each may come many times at once', async () => {
  const good = await Promise.all(Array.from({ length: 100 }, goodKey));
  const each = await Promise.all(good.map((key) => ask({ 'x-api-key': key })));
  assert.deepEqual(statuses(each), { 200: 100 });
  const another = await goodKey();
  const same = await Promise.all(Array.from({ length: 400 }, () => ask({ 'x-api-key': another })));
  assert.deepEqual(statuses(same), { 200: 400 });
});
