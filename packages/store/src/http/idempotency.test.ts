import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Claim, ChangeNote } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import type { Store } from '../store.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store: one, another } = await testStore();
const two = await another();
const accountId = await firstAccount(one.database);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const request = (key: string, body = 'body', agentId = 'abcdefghijkl') => ({
  accountId,
  key,
  fingerprint: digest(body),
  agentId,
});
const reply = { status: 201, headers: { location: '/v1/agents/x' }, body: '{"ok":true}' };

async function claimed(store: Store, key: string, agentId?: string): Promise<Claim> {
  const outcome = await store.idempotency.claim(request(key, 'body', agentId), 15_000);
  assert.equal(outcome.kind, 'claimed');
  return (outcome as { claim: Claim }).claim;
}

test('of many claims at once, over two servers, one is given', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two).idempotency.claim(request('at-once'), 15_000)),
  );
  assert.equal(outcomes.filter(({ kind }) => kind === 'claimed').length, 1);
  assert.equal(outcomes.filter(({ kind }) => kind === 'in_progress').length, 19);
});

test('the reply is given again, on any server; to another request it is not', async () => {
  const claim = await claimed(one, 'done');
  await one.idempotency.complete(claim, reply);
  assert.deepEqual(await two.idempotency.claim(request('done'), 15_000), { kind: 'replay', reply });
  assert.deepEqual(await two.idempotency.claim(request('done', 'other'), 15_000), { kind: 'reused' });
  assert.deepEqual(await two.idempotency.claim(request('done', 'other'), 15_000), { kind: 'reused' });
  const unkept = await claimed(one, 'stream');
  await one.idempotency.complete(unkept, null);
  assert.deepEqual(await one.idempotency.claim(request('stream'), 15_000), { kind: 'not_kept' });
});

test('a claim whose server is gone is taken over, with its agent id; the late first attempt writes nothing any more', async () => {
  const first = await claimed(one, 'killed', 'aaaaaaaaaaaa');
  assert.equal((await two.idempotency.claim(request('killed'), 15_000)).kind, 'in_progress');
  await execute(database.connectionString, "update idempotency_keys set lease_until = now() where key = 'killed'");
  const second = await claimed(two, 'killed', 'bbbbbbbbbbbb');
  assert.deepEqual([second.agentId, second.effective], ['aaaaaaaaaaaa', false]);
  await one.idempotency.complete(first, { ...reply, body: 'late' });
  await one.idempotency.abandon(first);
  await one.idempotency.renew([first], 60_000);
  assert.equal((await one.idempotency.claim(request('killed'), 15_000)).kind, 'in_progress');
  await two.idempotency.complete(second, reply);
  assert.deepEqual(await one.idempotency.claim(request('killed'), 15_000), { kind: 'replay', reply });
});

test('a renewed claim is kept, one that is given up is free at once', async () => {
  const claim = await claimed(one, 'renewed');
  await execute(database.connectionString, "update idempotency_keys set lease_until = now() where key = 'renewed'");
  await one.idempotency.renew([claim], 15_000);
  assert.equal((await two.idempotency.claim(request('renewed'), 15_000)).kind, 'in_progress');
  await one.idempotency.abandon(claim);
  await claimed(two, 'renewed');
});

test('that it had its effect is written with the effect, or not at all', async () => {
  const note: ChangeNote = {
    event: { type: 'agent.created', data: { name: 'x' } },
    by: { actor: { kind: 'api_key', id: 'key' }, address: null, requestId: null },
    idempotencyKey: 'effect',
  };
  const agent = newAgent(accountId);
  const claim = await claimed(one, 'effect', agent.id);
  const refuse = (): never => {
    throw new Error('quota');
  };
  await assert.rejects(one.agents.create(agent, refuse, note));
  await one.idempotency.abandon(claim);
  const again = await claimed(two, 'effect');
  assert.deepEqual([again.agentId, again.effective], [agent.id, false]);

  await two.agents.create({ ...agent, id: again.agentId }, admitAll, note);
  // The server is killed here.
  await execute(database.connectionString, "update idempotency_keys set lease_until = now() where key = 'effect'");
  const third = await claimed(one, 'effect');
  assert.deepEqual([third.agentId, third.effective], [agent.id, true]);
  const events = await one.events.audit({ accountId, limit: 10, direction: 'asc' });
  assert.deepEqual(events.filter(({ action }) => action === 'agent.created').length, 1);
});

test('after a day a key is a new one, and old ones are forgotten; one that is under way is not', async () => {
  const claim = await claimed(one, 'day');
  await one.idempotency.complete(claim, reply);
  await claimed(one, 'long');
  await execute(
    database.connectionString,
    "update idempotency_keys set created_at = now() - interval '25 hours' where key in ('day', 'long'); update idempotency_keys set lease_until = now() where key = 'day'",
  );
  assert.equal((await two.idempotency.claim(request('long'), 15_000)).kind, 'in_progress');
  const fresh = await two.idempotency.claim(request('day', 'other', 'cccccccccccc'), 15_000);
  assert.equal(fresh.kind === 'claimed' && fresh.claim.agentId, 'cccccccccccc');
  await execute(
    database.connectionString,
    "update idempotency_keys set created_at = now() - interval '25 hours', lease_until = now() where key = 'day'",
  );
  await one.idempotency.prune();
  const rows = await execute<{ key: string }>(
    database.connectionString,
    "select key from idempotency_keys where key in ('day', 'long')",
  );
  assert.deepEqual(rows, [{ key: 'long' }]);
});

test("another account's key of the same name is another key", async () => {
  const other = (
    await execute<{ id: string }>(
      database.connectionString,
      "insert into accounts (name) values ('other') returning id",
    )
  )[0]!.id;
  await claimed(one, 'shared');
  const outcome = await one.idempotency.claim({ ...request('shared', 'other'), accountId: other }, 15_000);
  assert.equal(outcome.kind, 'claimed');
});
