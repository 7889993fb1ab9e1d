import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, event, firstAccount, newAgent, silent } from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { openTestStore } from '../../../store/src/testing/agents-fixture.ts';

const { database, store } = await testStore();
const { agents } = store;
const account = await firstAccount(store.database);

const create = (given = {}) => agents.create(newAgent(account, given), admitAll);

test('observe writes only the facts given', async () => {
  const { id, generation } = await create();
  await agents.lease(id, 'h', 60_000);
  const facts = {
    status: 'error',
    statusReason: { code: 'vm_crashed', message: 'It crashed.', at: new Date(1_700_000_000_123) },
    executionId: 'e1',
    templateId: 't1',
    vmAddress: '10.201.0.2',
    host: 'h',
    machine: { vcpus: 2, memoryMib: 4096, diskGib: 10 },
    acknowledged: true,
    startedAt: new Date(1_700_000_000_456),
    pausedAt: new Date(1_700_000_000_457),
    stoppedAt: new Date(1_700_000_000_458),
    crashes: [new Date(1_700_000_000_001), new Date(1_700_000_000_999)],
  } as const;
  assert.equal(await agents.observe(id, generation, 'h', { ...facts, event }), true);
  const row = (await agents.find(id))!;
  assert.deepEqual({ ...row, ...facts }, row);
  assert.equal(await agents.observe(id, generation, 'h', {}), true);
  assert.deepEqual({ ...(await agents.find(id))!, updatedAt: row.updatedAt }, row);
  assert.equal(
    await agents.observe(id, generation, 'h', { event, status: 'running', statusReason: null, crashes: [] }),
    true,
  );
  const cleared = (await agents.find(id))!;
  assert.deepEqual(
    { ...row, status: 'running', statusReason: null, crashes: [], updatedAt: cleared.updatedAt },
    cleared,
  );
});

test('an observation made for an older generation is void', async () => {
  const { id, generation } = await create();
  await agents.lease(id, 'h', 60_000);
  await agents.markDeleted(account, id);
  assert.equal(await agents.observe(id, generation, 'h', { event, status: 'running' }), false);
  assert.equal((await agents.find(id))!.status, 'provisioning');
});

test('an observation without the lease is void: never taken, taken by another, released or run out', async () => {
  const { id, generation } = await create();
  const observe = (holder: string) => agents.observe(id, generation, holder, { executionId: holder });
  assert.equal(await observe('a'), false);
  assert.equal(await agents.lease(id, 'a', 60_000), true);
  assert.equal(await agents.lease(id, 'b', 60_000), false);
  assert.equal(await observe('b'), false);
  assert.equal(await observe('a'), true);
  await agents.releaseLease(id, 'b');
  assert.equal(await observe('a'), true, 'only the holder releases');
  await agents.releaseLease(id, 'a');
  assert.equal(await observe('a'), false);
  assert.equal(await agents.lease(id, 'b', 30), true);
  await sleep(60);
  assert.equal(await observe('b'), false, 'run out');
  assert.equal(await agents.lease(id, 'a', 60_000), true, 'free again');
  assert.equal((await agents.find(id))!.executionId, 'a');
});

test('a successor on the same host takes the lease over, and what its predecessor still sends is void', async () => {
  const successor = await openTestStore({ ...database, log: silent });
  try {
    const { id, generation } = await create();
    assert.equal(await agents.lease(id, 'host', 60_000), true);
    assert.equal(await successor.agents.lease(id, 'host', 60_000), true);
    assert.equal(await agents.observe(id, generation, 'host', { executionId: 'late' }), false);
    await agents.releaseLease(id, 'host');
    assert.equal(await successor.agents.observe(id, generation, 'host', { executionId: 'own' }), true);
    assert.equal((await agents.find(id))!.executionId, 'own');
  } finally {
    await successor.close();
  }
});

test('finishDelete needs the wish and the lease, then hides the agent and removes its secrets', async () => {
  const llmKeys = [{ provider: 'openai', sealed: 'v1.marked-sealed-key', last4: 'abcd' }];
  const { id, generation } = await create({ llmKeys });
  await agents.lease(id, 'h', 60_000);
  await agents.observe(id, generation, 'h', { vmAddress: '10.201.0.6' });
  const isThere = async () => (await agents.find(id)) !== null;
  await agents.finishDelete(id, 'h');
  assert.equal(await isThere(), true, 'not wanted');
  await agents.markDeleted(account, id);
  await agents.finishDelete(id, 'other');
  assert.equal(await isThere(), true, 'not leased');
  await agents.finishDelete(id, 'h');
  assert.equal(await isThere(), false);
  assert.equal(await agents.get(account, id), null);
  assert.equal(await agents.markDeleted(account, id), null);
  assert.equal(await agents.lease(id, 'h', 1000), false);
  assert.equal(await store.directoryOf('h').byAddress('10.201.0.6'), null);
  for (const rows of [await agents.all(), await agents.present('h')]) assert.ok(rows.every((row) => row.id !== id));
  await agents.finishDelete(id, 'h');
  const [dump] = await execute<{ text: string }>(
    database.connectionString,
    `select string_agg(row_text, '') as text from (
       select a::text as row_text from agents a union all select k::text from llm_keys k) rows`,
  );
  assert.ok(!dump!.text.includes('marked-sealed-key'));
  assert.ok(dump!.text.includes(id), 'the row stays for what was metered on it');
});
