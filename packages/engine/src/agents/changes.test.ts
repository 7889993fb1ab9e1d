import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentChange } from '@lodge/store/agents';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, event, firstAccount, newAgent } from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';

const { database, store } = await testStore();
const { agents } = store;
const account = await firstAccount(store.database);

const create = (given = {}) => agents.create(newAgent(account, given), admitAll);

test('members are kept with the agent, and are replaced as a whole', async () => {
  const { id } = await agents.create(newAgent(account), admitAll);
  const member = {
    name: 'scout',
    model: null,
    instructions: 'Ä "quote"\n',
    createdAt: new Date('2026-01-31T12:00:00.123Z'),
  };
  const row = await agents.change(account, id, () => ({ members: [member] }));
  assert.deepEqual(row?.members, [member]);
  assert.deepEqual((await agents.change(account, id, () => ({ name: 'B' })))?.members, [member]);
  assert.deepEqual((await agents.change(account, id, () => ({ members: [] })))?.members, []);
});

test('egress rules have a version that rises with every change of them, and with nothing else', async () => {
  const { id, egress } = await agents.create(newAgent(account), admitAll);
  assert.deepEqual(egress, { mode: 'public', allow: [] });
  const version = async (change: AgentChange) => (await agents.change(account, id, () => change))!.egressVersion;
  const none = { mode: 'none', allow: [] } as const;
  assert.equal(await version({ egress: none }), 2);
  assert.equal(await version({ egress: none, name: 'B' }), 2);
  assert.equal(await version({ egress }), 3, 'what was before is another version');
  assert.equal(await version({ models: ['p/m'] }), 3);
  await agents.lease(id, 'h', 60_000);
  assert.equal(await agents.observe(id, 1, 'h', { egressApplied: 2 }), true);
  const row = (await agents.find(id))!;
  assert.deepEqual([row.egress, row.egressVersion, row.egressApplied, row.models], [egress, 3, 2, ['p/m']]);
  assert.equal((await agents.change(account, id, () => ({ models: null })))!.models, null);
  assert.deepEqual((await agents.change(account, id, () => ({ peers: [id] })))!.peers, [id]);
});

test('concurrent creates never exceed the bound their admission sets, and a refusal writes nothing', async () => {
  const before = (await agents.all()).length;
  const bound = before + 5;
  const refusal = new Error('no room');
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () =>
      agents.create(newAgent(account), ({ accountAgents, holders }) => {
        assert.ok(holders.length <= accountAgents);
        if (accountAgents >= bound) throw refusal;
      }),
    ),
  );
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 5);
  for (const outcome of outcomes) if (outcome.status === 'rejected') assert.equal(outcome.reason, refusal);
  assert.equal((await agents.all()).length, bound);
});

test('admission counts what holds memory: not stopped or failed agents, but those being deleted', async () => {
  const countOf = async () => {
    let seen = { sizes: 0, accountAgents: 0 };
    const look = agents.create(newAgent(account), ({ holders, accountAgents }) => {
      const small = holders.filter(({ size, holdsMemory }) => size === 'small' && holdsMemory);
      seen = { sizes: small.length, accountAgents };
      throw new Error('only looking');
    });
    await assert.rejects(look, /only looking/);
    return seen;
  };
  const none = await countOf();
  const { id } = await create({ size: 'small' });
  assert.deepEqual(await countOf(), { sizes: none.sizes + 1, accountAgents: none.accountAgents + 1 });
  await agents.lease(id, 'h', 60_000);
  for (const [status, held] of [
    ['running', 1],
    ['paused', 1],
    ['stopped', 0],
    ['error', 0],
    ['running', 1],
  ] as const) {
    const statusReason = { code: 'vm_crashed', message: 'm', at: new Date() } as const;
    await agents.observe(id, 1, 'h', { event, status, statusReason });
    assert.equal((await countOf()).sizes, none.sizes + held, status);
  }
  await agents.markDeleted(account, id);
  assert.equal((await countOf()).sizes, none.sizes + 1, 'its VM is still there');
  await agents.finishDelete(id, 'h');
  assert.deepEqual(await countOf(), none);
});

test("another account's agent is not there", async () => {
  await execute(database.connectionString, `insert into accounts (id, name) values ('other', 'other')`);
  const { id } = await create();
  assert.equal(await agents.get('other', id), null);
  assert.equal(await agents.markDeleted('other', id), null);
  assert.equal((await agents.get(account, id))!.desired, 'running');
  assert.deepEqual((await agents.list({ accountId: 'other', limit: 10, order: 'asc' })).rows, []);
});

test('ids that no agent can have are just not found', async () => {
  for (const id of ['', 'x', "a' or '1'='1", 'aaaaaaaaaaa\0', 'A'.repeat(12), 'a'.repeat(5000)]) {
    assert.equal(await agents.get(account, id), null);
    assert.equal(await agents.find(id), null);
    assert.equal(await agents.markDeleted(account, id), null);
  }
});

test('markDeleted raises the generation once, however often it is repeated', async () => {
  const { id, generation } = await create();
  const marked = await Promise.all([1, 2, 3].map(() => agents.markDeleted(account, id)));
  for (const row of marked) {
    assert.equal(row!.desired, 'deleted');
    assert.equal(row!.generation, generation + 1);
  }
});
