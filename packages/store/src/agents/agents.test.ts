import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentStatuses, defaultSnapshotPlan, runtimeKinds, sizeNames, statusReasonCodes } from '@lodge/domain';
import { admitAll, event, firstAccount, newAgent } from '../testing/fixture.ts';
import { existingAgents, holders } from './index.ts';
import { testStore } from '../testing/test-store.ts';

const { store } = await testStore();
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
    browser: true,
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
    snapshots: defaultSnapshotPlan,
    nextFrom: null,
    nextMemory: false,
    restoreTo: null,
    restoreMemory: false,
    restoreBack: null,
    nextImport: null,
    forkedFrom: null,
    turnNote: null,
    turns: 0,
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

test('holders are all agents that are not deleted: whose memory is gone has its disk, wherever that is', async () => {
  const { id } = await create({ size: 'small' });
  const holder = async () => (await store.database.repeatable(holders)).find((one) => one.id === id);
  assert.deepEqual(await holder(), { id, size: 'small', host: null, holdsMemory: true, asleepSince: null });
  await agents.lease(id, 'h', 60_000);
  const machine = { vcpus: 2, memoryMib: 8192, diskGib: 10 };
  await agents.observe(id, 1, 'h', { event, status: 'stopped', host: 'here', machine });
  assert.deepEqual(await holder(), { id, size: 'large', host: 'here', holdsMemory: false, asleepSince: null });
  await agents.markDeleted(account, id);
  await agents.finishDelete(id, 'h');
  assert.equal(await holder(), undefined);
});

test('of many that take a lease at once one has it; renewing keeps it', async () => {
  const { id } = await create();
  const holders = Array.from({ length: 20 }, (_, n) => `h${n}`);
  const taken = await Promise.all(holders.map((holder) => agents.lease(id, holder, 60_000)));
  assert.equal(taken.filter(Boolean).length, 1);
  const winner = holders[taken.indexOf(true)]!;
  assert.equal(await agents.lease(id, winner, 60_000), true);
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
