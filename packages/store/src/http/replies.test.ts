/** Stored replies of accounts that send more than the database may hold are bounded in bytes and rows, and never wrong. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { ClaimOutcome, IdempotencyStore, StoredReply } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { testStore } from '../testing/test-store.ts';
import { idempotencyIn } from './idempotency.ts';

const { database, store: opened } = await testStore();
const run = <Row = unknown>(statement: string) =>
  execute<Row & Record<string, unknown>>(database.connectionString, statement);

const newAccount = async (): Promise<string> =>
  (await run<{ id: string }>("insert into accounts (name) values ('a') returning id"))[0]!.id;
const fingerprint = createHash('sha256').digest();
const replyOf = (bytes: number): StoredReply => ({ status: 200, headers: {}, body: 'x'.repeat(bytes) });

/** Sends requests with these keys, one after another. */
function asking(store: IdempotencyStore, accountId: string) {
  const claim = (key: string): Promise<ClaimOutcome> =>
    store.claim({ accountId, key, fingerprint, agentId: 'abcdefghijkl' }, 0);
  return {
    claim,
    ask: async (keys: readonly string[], bytes: number): Promise<void> => {
      for (const key of keys) {
        const outcome = await claim(key);
        assert.equal(outcome.kind, 'claimed', key);
        if (outcome.kind === 'claimed') await store.complete(outcome.claim, replyOf(bytes));
      }
    },
    kinds: async (keys: readonly string[]): Promise<string[]> =>
      Promise.all(keys.map(async (key) => (await claim(key)).kind)),
  };
}

const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, n) => `k${from + n}`);

/** Returns the counted and the real sizes. */
const stored = async (accountId: string): Promise<{ counted: object; real: object }> => {
  const [counted] = await run(
    `select items::int, bytes::int from stored_bytes where account_id = '${accountId}' and kind = 'replies'`,
  );
  const [real] = await run(
    `select count(*)::int as items, coalesce(sum(octet_length(body)), 0)::int as bytes from idempotency_keys where account_id = '${accountId}'`,
  );
  return { counted: counted!, real: real! };
};

test('a day of more keys than one statement deletes is forgotten in one round, and counted so', async () => {
  const accountId = await newAccount();
  await run(
    `insert into idempotency_keys (account_id, key, fingerprint, agent_id, attempt, lease_until, created_at, done_at, status, headers, body)
     select '${accountId}', 'old' || n, sha256('x'), 'a', '${randomUUID()}', now() - interval '25 hours',
       now() - interval '25 hours', now(), 200, '{}', repeat('x', 100) from generate_series(1, 2500) n`,
  );
  await asking(idempotencyIn(opened.database), accountId).ask(['new'], 10);
  assert.deepEqual((await stored(accountId)).counted, { items: 2501, bytes: 250_010 });
  await idempotencyIn(opened.database).prune();
  const { counted, real } = await stored(accountId);
  assert.deepEqual(
    [counted, real],
    [
      { items: 1, bytes: 10 },
      { items: 1, bytes: 10 },
    ],
  );
});

test('replies of an account stay within their bytes; a request whose reply went is not carried out again', async () => {
  const accountId = await newAccount();
  const store = idempotencyIn(opened.database, { bytes: 100_000 });
  const { ask, kinds } = asking(store, accountId);
  await ask(names(12), 10_000);
  assert.deepEqual(await kinds(['k9', 'k10', 'k11']), ['replay', 'not_kept', 'not_kept']);
  assert.deepEqual((await stored(accountId)).counted, { items: 12, bytes: 100_000 });
  await store.prune();
  await ask(['later'], 10_000);
  assert.deepEqual(await kinds(['k0', 'k2', 'k3', 'k9', 'later']), [
    'not_kept',
    'not_kept',
    'replay',
    'replay',
    'replay',
  ]);
  const other = asking(store, await newAccount());
  await other.ask(['mine'], 50_000);
  assert.deepEqual(await other.kinds(['mine']), ['replay'], 'no other account is held up');
});

test('of a request that was refused the key goes with its reply: it changed nothing', async () => {
  const accountId = await newAccount();
  const store = idempotencyIn(opened.database, { bytes: 2_000 });
  const { ask, claim, kinds } = asking(store, accountId);
  const refused = await claim('refused');
  assert.ok(refused.kind === 'claimed');
  await store.complete(refused.claim, { ...replyOf(500), status: 404 });
  await ask(['second', 'third', 'late'], 500);
  await store.prune();
  assert.deepEqual(await kinds(['refused', 'late']), ['claimed', 'replay']);
  const { counted, real } = await stored(accountId);
  assert.deepEqual(counted, real);
  const without = asking(idempotencyIn(opened.database, { bytes: 0 }), accountId);
  const full = await without.claim('no room');
  assert.ok(full.kind === 'claimed');
  await idempotencyIn(opened.database, { bytes: 0 }).complete(full.claim, { ...replyOf(500), status: 400 });
  assert.deepEqual(await without.kinds(['no room']), ['claimed']);
});

test('beyond so many keys the oldest go after an hour at the earliest, and what finds none to go is refused undone', async () => {
  const accountId = await newAccount();
  const store = idempotencyIn(opened.database, { items: 10 });
  const { ask, claim, kinds } = asking(store, accountId);
  await ask(names(10), 5);
  await store.prune();
  assert.deepEqual(await kinds(['one more', 'k0']), ['full', 'replay']);
  await run(
    `update idempotency_keys set created_at = created_at - interval '61 minutes' where account_id = '${accountId}' and key in ('k0', 'k1', 'k2')`,
  );
  await store.prune();
  assert.deepEqual(await kinds(['k2', 'k9']), ['replay', 'replay']);
  assert.equal((await claim('one more')).kind, 'claimed');
  const { counted, real } = await stored(accountId);
  assert.deepEqual(counted, real);
});
