import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, event, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import type { TestStore } from '../testing/agents-fixture.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const create = () => store.agents.create(newAgent(accountId), admitAll);

/** Records the values that `at` calls back with, in order. */
function record(t: TestContext, at: TestStore): (string | null)[] {
  const heard: (string | null)[] = [];
  t.after(at.agents.onChange((id) => heard.push(id)));
  return heard;
}

async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, what);
    await sleep(10);
  }
}

/** Waits until everything sent before was heard. Notifications come in the order of the commits. */
async function settle(heard: (string | null)[]): Promise<void> {
  const { id } = await create();
  await until(() => heard.includes(id), 'the last change is heard');
  heard.splice(heard.indexOf(id));
}

test('creates, observations and deletes are heard in every process', async (t) => {
  const [here, there] = [record(t, store), record(t, other)];
  const { id } = await create();
  await store.agents.lease(id, 'h', 60_000);
  await store.agents.observe(id, 1, 'h', { event, status: 'running' });
  await store.agents.markDeleted(accountId, id);
  await store.agents.finishDelete(id, 'h');
  await settle(here);
  await settle(there);
  assert.deepEqual(
    here.filter((heard) => heard === id),
    [id, id, id, id],
  );
  assert.deepEqual(there.slice(0, 4), [id, id, id, id]);
});

test('leases, activity and refused creates wake nobody', async (t) => {
  const { id } = await create();
  const heard = record(t, other);
  await settle(heard);
  heard.length = 0;
  await store.agents.lease(id, 'h', 60_000);
  await store.agents.lease(id, 'h', 60_000);
  await store.agents.takeKeepAwake(id, 'h', 1_000);
  await store.agents.releaseLease(id, 'h');
  assert.equal(await store.agents.observe(id, 1, 'h', { event, status: 'running' }), false);
  const refused = store.agents.create(newAgent(accountId), () => {
    throw new Error('refused');
  });
  await assert.rejects(refused, /refused/);
  await settle(heard);
  assert.deepEqual(heard, []);
});

test('a listener that throws does not keep the others from hearing, and one that left hears nothing', async (t) => {
  t.after(
    other.agents.onChange(() => {
      throw new Error('broken listener');
    }),
  );
  const left: unknown[] = [];
  other.agents.onChange((id) => left.push(id))();
  const heard = record(t, other);
  const { id } = await create();
  await until(() => heard.includes(id), 'the change is heard');
  assert.deepEqual(left, []);
});

test('after a lost connection listeners are told that anything may have changed, then hear again', async (t) => {
  const heard = record(t, other);
  await settle(heard);
  await execute(
    database.connectionString,
    `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %'`,
  );
  const missed = await create();
  await until(() => heard.includes(null), 'told that anything may have changed');
  const { id } = await create();
  await until(() => heard.includes(id), 'heard again');
  assert.equal(heard.filter((what) => what === null).length, 1);
  assert.notEqual(await other.agents.find(missed.id), null);
});
