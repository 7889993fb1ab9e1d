import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentStatuses, runtimeKinds, sizeNames, statusReasonCodes } from '@lodge/domain';
import type { AgentChange } from './facts.ts';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, event, firstAccount, newAgent, silent } from '../testing/fixture.ts';
import { existingAgents, holders } from './index.ts';
import { testStore } from '../testing/test-store.ts';
import { openTestStore } from '../testing/agents-fixture.ts';

const { database, store } = await testStore();
const { agents } = store;
const account = await firstAccount(store.database);

const create = (given = {}) => agents.create(newAgent(account, given), admitAll);

test('a created agent reads back as it was given, desired running and provisioning', async () => {
  const given = newAgent(account, {
    name: 'Näme ✓',
    description: 'it\'s 100% \\ "quoted"; drop table agents; --',
    runtimeKind: 'runtime_b',
    size: 'xlarge',
    lifecycle: {
      idleTimeoutSeconds: 0,
      stopAfterSeconds: 7,
      keepAwake: 'always',
      autoResume: false,
      autoStart: true,
      wakeOnMessage: false,
    },
    labels: { team: 'a', env: '' },
    metadata: { team: 'a', 'odd key': '{"json":1}' },
    instructions: 'Be kind.\nAnswer in Ελληνικά.',
    dashboard: true,
    spendLimit: { dailyUsd: '0.10', monthlyUsd: null, action: 'pause' },
    egress: { mode: 'allowlist', allow: ['*.example.com', '9.9.9.0/24'] },
    models: ['openai/gpt-5-mini', 'openrouter/z-ai/glm-5'],
    peers: ['*'],
    llmKeys: [
      { provider: 'anthropic', sealed: 'sealed-1', last4: 'h3Qw' },
      { provider: 'openai', sealed: 'sealed-2', last4: 'x' },
    ],
  });
  const created = await agents.create(given, admitAll);
  const { llmKeys, createdAt, updatedAt, ...rest } = created;
  const { llmKeys: givenKeys, ...givenRest } = given;
  assert.deepEqual(rest, {
    ...givenRest,
    desired: 'running',
    operation: null,
    generation: 1,
    status: 'provisioning',
    statusReason: null,
    executionId: null,
    templateId: null,
    runtimeVersion: null,
    vmAddress: null,
    host: null,
    machine: null,
    members: [],
    channels: [],
    settingsApplied: 'template',
    egressVersion: 1,
    egressApplied: 1,
    confirmations: null,
    env: {},
    hostAccess: null,
    packages: { apt: [], pip: [], npm: [] },
    packagesApplied: 'none',
    packagesError: null,
    skillsWanted: 'none',
    skillsApplied: 'none',
    skillsError: null,
    acknowledged: false,
    startedAt: null,
    pausedAt: null,
    stoppedAt: null,
    lastActiveAt: null,
    crashes: [],
  });
  assert.deepEqual(
    llmKeys,
    givenKeys.map((key, n) => ({ ...key, createdAt: llmKeys[n]!.createdAt })),
  );
  assert.ok(llmKeys.every((key) => Math.abs(key.createdAt.getTime() - Date.now()) < 60_000));
  assert.ok(Math.abs(createdAt.getTime() - Date.now()) < 60_000 && updatedAt >= createdAt);
  assert.deepEqual(await agents.get(account, given.id), created);
  assert.deepEqual(await agents.find(given.id), created);
});

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
      agents.create(newAgent(account), ({ accountAgents, sizes }) => {
        assert.ok(sizes.length <= accountAgents);
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
    const look = agents.create(newAgent(account), ({ sizes, accountAgents }) => {
      seen = { sizes: sizes.filter((size) => size === 'small').length, accountAgents };
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

test('holders are all agents that are not deleted: whose memory is gone has its disk, wherever that is', async () => {
  const { id } = await create({ size: 'small' });
  const holder = async () => (await store.database.repeatable(holders)).find((one) => one.id === id);
  assert.deepEqual(await holder(), { id, size: 'small', host: null, holdsMemory: true });
  await agents.lease(id, 'h', 60_000);
  const machine = { vcpus: 2, memoryMib: 8192, diskGib: 10 };
  await agents.observe(id, 1, 'h', { event, status: 'stopped', host: 'here', machine });
  assert.deepEqual(await holder(), { id, size: 'large', host: 'here', holdsMemory: false });
  await agents.markDeleted(account, id);
  await agents.finishDelete(id, 'h');
  assert.equal(await holder(), undefined);
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

test('of many that take a lease at once one has it; renewing keeps it', async () => {
  const { id } = await create();
  const holders = Array.from({ length: 20 }, (_, n) => `h${n}`);
  const taken = await Promise.all(holders.map((holder) => agents.lease(id, holder, 60_000)));
  assert.equal(taken.filter(Boolean).length, 1);
  const winner = holders[taken.indexOf(true)]!;
  assert.equal(await agents.lease(id, winner, 60_000), true);
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

test('present are the agents of a host, or of none, that do not rest in stopped or error', async () => {
  const [fresh, running, stopped, dying, away] = await Promise.all(Array.from({ length: 5 }, () => create()));
  for (const [agent, status] of [
    [running, 'running'],
    [stopped, 'stopped'],
    [dying, 'stopped'],
    [away, 'running'],
  ] as const) {
    const { id } = agent!;
    const host = agent === away ? 'elsewhere' : 'h';
    await agents.lease(id, host, 60_000);
    assert.equal(await agents.observe(id, 1, host, { event, status, host }), true);
  }
  await agents.markDeleted(account, dying!.id);
  const ids = new Set((await agents.present('h')).map(({ id }) => id));
  const present = [fresh, running, stopped, dying, away].map((agent) => ids.has(agent!.id));
  assert.deepEqual(present, [true, true, false, true, false]);
  await agents.lease(dying!.id, 'h', 60_000);
  await agents.finishDelete(dying!.id, 'h');
  assert.deepEqual(
    await store.database.repeatable((db) => existingAgents(db, [away!.id, dying!.id, 'aaaaaaaaaaaa'])),
    new Set([away!.id]),
  );
});

test('no two live agents have one address', async () => {
  const [one, two] = [await create(), await create()];
  for (const { id } of [one, two]) await agents.lease(id, 'h', 60_000);
  await agents.observe(one.id, 1, 'h', { vmAddress: '10.201.0.10' });
  const clash = agents.observe(two.id, 1, 'h', { vmAddress: '10.201.0.10' });
  await assert.rejects(clash, (error: { code: string; detail?: string }) => {
    assert.equal(error.code, '23505');
    assert.equal(error.detail, undefined, 'no data of a row in what may be logged');
    return true;
  });
  await agents.observe(one.id, 1, 'h', { vmAddress: null });
  assert.equal(await agents.observe(two.id, 1, 'h', { vmAddress: '10.201.0.10' }), true);
});

test("the database takes every value of the domain's closed sets, and no other", async () => {
  for (const runtimeKind of runtimeKinds) await create({ runtimeKind });
  for (const size of sizeNames) await create({ size });
  const { id } = await create();
  await agents.lease(id, 'h', 60_000);
  const at = new Date();
  for (const code of statusReasonCodes) {
    assert.equal(await agents.observe(id, 1, 'h', { event, statusReason: { code, message: 'm', at } }), true);
  }
  for (const status of agentStatuses) assert.equal(await agents.observe(id, 1, 'h', { event, status }), true);
  const violates = { code: '23514' };
  await assert.rejects(create({ size: 'huge' }), violates);
  await assert.rejects(agents.observe(id, 1, 'h', { event, status: 'gone' as never }), violates);
  await assert.rejects(agents.observe(id, 1, 'h', { event, status: 'error', statusReason: null }), violates);
});
