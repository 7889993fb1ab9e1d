/** The engine on a real database and the fake driver: what is acknowledged stays true, and nothing is left that nobody owns. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { defaultLifecycle } from '@lodge/domain';
import type { AgentRuntime, AgentRow } from '@lodge/engine/ports';
import { migrate, openStore } from '@lodge/store';
import type { Store } from '@lodge/store';
import { testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { createFakeDriver, failAt, FakeHost, fakeSteps, hangAt } from '@lodge/vm/fake';
import type { FakeDriver } from '@lodge/vm/fake';
import { createEngine } from './engine.ts';
import type { Engine } from './engine.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
let database: TestDatabase;
let store: Store;
let accountId: string;

before(async () => {
  database = await testDatabase();
  await migrate(database);
  store = await openStore({ ...database, log: silent });
  const row = await store.apiKeys.createFirstAccount('test', {
    name: 'test',
    hash: randomBytes(32),
    last4: 'test',
    scopes: ['agents:write'],
    expiresAt: null,
  });
  accountId = row!.accountId;
});

after(async () => {
  await store.close();
  await database.drop();
});

const runtime: AgentRuntime = {
  name: 'fake',
  version: '1',
  templateVariant: '1',
  startWarmupLlm: () => Promise.resolve({ port: 1, close: () => Promise.resolve() }),
  prepareTemplate: () => Promise.resolve({}),
  resumeClone: () => Promise.resolve(),
  awaitBoot: () => Promise.resolve(),
  chatEndpoint: ({ address }) => ({ chatCompletionsUrl: `http://${address}/`, headers: {}, model: 'x' }),
};
const image = { id: 'image', rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };

/** A control plane on the host; ended after the test. */
async function control(host: FakeHost, changes: { readonly maxAgents?: number } = {}) {
  const driver: FakeDriver = createFakeDriver(host);
  const engine: Engine = createEngine({
    store: store.agents,
    driver,
    images: {
      idOf: () => Promise.resolve(image.id),
      find: () => Promise.resolve(image),
      ensure: () => Promise.resolve(image),
    },
    runtimes: new Map([['runtime_a', runtime]]),
    providers: [
      {
        id: 'p',
        name: 'P',
        api: 'openai-completions',
        baseUrl: 'http://p',
        needsKey: true,
        operatorAdded: true,
        contextWindow: null,
      },
    ],
    secrets: createSecretBox(randomBytes(32)),
    log: silent,
    defaultModel: 'p/m',
    maxAgentsPerAccount: changes.maxAgents ?? 100,
    memory: { reservedMib: 1024, overcommit: 1 },
    holder: 'test',
    provisionTimeoutMs: 20_000,
  });
  await driver.start();
  engine.start();
  return { driver, engine, agents: engine.agents };
}

const input = {
  name: 'A',
  llmKeys: [],
  runtimeKind: 'runtime_a',
  size: 'small',
  lifecycle: defaultLifecycle,
  metadata: {},
} as const;
const never = new AbortController().signal;

async function settled(engine: Engine, id: string): Promise<AgentRow> {
  const row = await engine.agents.awaitSettled(accountId, id, 15_000, never);
  assert.ok(row, `${id} is gone`);
  return row;
}

async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  for (let left = 300; left > 0; left -= 1) {
    if (await look()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`never: ${what}`);
}

/** Deletes all agents and ends the engine. */
async function end({ engine, agents }: { engine: Engine; agents: Engine['agents'] }): Promise<void> {
  for (const row of await store.agents.all()) await agents.delete(accountId, row.id, never);
  await engine.stop();
}

test('a create becomes one running VM, a delete leaves nothing', async () => {
  const host = new FakeHost();
  const plane = await control(host);
  const { id } = await plane.agents.create(accountId, input);
  const row = await settled(plane.engine, id);
  assert.equal(row.status, 'running');
  assert.equal(host.guestAt(row.vmAddress!)?.agentId, id);
  assert.equal((await store.directory.byAddress(row.vmAddress!))?.agentId, id);
  await plane.agents.delete(accountId, id, never);
  assert.equal(host.vms.size, 0);
  await assert.rejects(plane.agents.get(accountId, id), { code: 'agent_not_found' });
  await end(plane);
});

test('two identical creates that race make two agents', async () => {
  const host = new FakeHost();
  const plane = await control(host);
  const rows = await Promise.all([plane.agents.create(accountId, input), plane.agents.create(accountId, input)]);
  assert.notEqual(rows[0].id, rows[1].id);
  for (const { id } of rows) assert.equal((await settled(plane.engine, id)).status, 'running');
  assert.equal(host.vms.size, 2);
  await end(plane);
});

test('a delete during provisioning cancels it at once', async () => {
  const host = new FakeHost();
  host.behaviour = hangAt('daemon');
  const plane = await control(host);
  const { id } = await plane.agents.create(accountId, input);
  await until('the create hangs', () => host.vms.get(id)?.alive === true);
  await plane.agents.delete(accountId, id, never);
  assert.equal(host.vms.size, 0);
  assert.equal(await store.agents.find(id), null);
  await end(plane);
});

test('a clone that fails once is made again; one that always fails ends in error and leaves nothing on the host', async () => {
  const host = new FakeHost();
  host.behaviour = failAt('machine', 'failed', 1);
  const plane = await control(host);
  const first = await plane.agents.create(accountId, input);
  assert.equal((await settled(plane.engine, first.id)).status, 'running');
  host.behaviour = failAt('machine');
  const second = await plane.agents.create(accountId, input);
  const row = await settled(plane.engine, second.id);
  assert.deepEqual([row.status, row.statusReason?.code], ['error', 'provisioning_failed']);
  assert.deepEqual([...host.vms.keys()], [first.id]);
  await end(plane);
});

test('a VM that dies is booted from its disk; the second death within ten minutes is an error that keeps the disk', async () => {
  const host = new FakeHost();
  const plane = await control(host);
  const { id } = await plane.agents.create(accountId, input);
  const before = await settled(plane.engine, id);
  host.guestAt(before.vmAddress!)!.guest.files.set('kept', 'yes');
  host.kill(id);
  await until('the VM is back', async () => {
    const row = await store.agents.find(id);
    return row?.status === 'running' && row.executionId !== before.executionId;
  });
  assert.equal(host.vms.get(id)!.guest.files.get('kept'), 'yes');
  host.kill(id);
  await until('the agent is in error', async () => (await store.agents.find(id))?.status === 'error');
  assert.equal((await store.agents.find(id))?.statusReason?.code, 'vm_crashed');
  assert.equal(host.vms.get(id)!.phase, 'disk');
  await end(plane);
});

for (const step of fakeSteps) {
  test(`a control plane killed before step ${step} of a create is followed by one that finishes it, with one VM`, async () => {
    const host = new FakeHost();
    host.behaviour = hangAt(step);
    const killed = await control(host);
    const { id } = await killed.agents.create(accountId, input);
    await until('the create hangs', () => host.vms.has(id));
    killed.driver.crash();
    void killed.engine.stop();
    host.behaviour = () => Promise.resolve();
    const plane = await control(host);
    const row = await settled(plane.engine, id);
    assert.equal(row.status, 'running');
    assert.deepEqual(
      [...host.vms.values()].map((vm) => [vm.agentId, vm.executionId]),
      [[id, row.executionId]],
    );
    await end(plane);
  });
}

test('what does not fit is refused and leaves no row, however many ask at once', async () => {
  const host = new FakeHost();
  host.memory = { totalMib: 1024 + 4096, availableMib: 5000 };
  const plane = await control(host);
  const creates = await Promise.allSettled(Array.from({ length: 6 }, () => plane.agents.create(accountId, input)));
  const refused = creates.filter((create) => create.status === 'rejected');
  assert.equal(refused.length, 4);
  for (const { reason } of refused) assert.equal((reason as { code: string }).code, 'insufficient_capacity');
  assert.equal((await store.agents.all()).length, 2);
  await end(plane);
});

test('an account keeps to its quota', async () => {
  const plane = await control(new FakeHost(), { maxAgents: 1 });
  await plane.agents.create(accountId, input);
  await assert.rejects(plane.agents.create(accountId, input), { code: 'quota_exceeded' });
  await end(plane);
});

test('what belongs to no agent is removed from the host, and only that', async () => {
  const host = new FakeHost();
  const first = await control(host);
  const { id } = await first.agents.create(accountId, input);
  const { vmAddress } = await settled(first.engine, id);
  await first.engine.stop();
  const owned = host.vms.get(id)!;
  host.vms.set('orphan000000', { ...owned, agentId: 'orphan000000' });
  const plane = await control(host);
  await until('the orphan is gone', () => !host.vms.has('orphan000000'));
  assert.equal(host.guestAt(vmAddress!)?.agentId, id);
  assert.equal((await store.agents.find(id))?.status, 'running');
  await end(plane);
});

test('a bad model or key is refused by name before anything is written', async () => {
  const plane = await control(new FakeHost());
  const refusal = (field: RegExp) => (error: { code: string; message: string }) =>
    error.code === 'invalid_request' && field.test(error.message);
  const key = { provider: 'p', apiKey: 'k' };
  await assert.rejects(plane.agents.create(accountId, { ...input, model: 'bare' }), refusal(/^model /));
  await assert.rejects(plane.agents.create(accountId, { ...input, model: 'q/m' }), refusal(/^model .*known are: p/));
  await assert.rejects(
    plane.agents.create(accountId, { ...input, llmKeys: [key, key] }),
    refusal(/^llm_keys\[1\]\.provider /),
  );
  await assert.rejects(
    plane.agents.create(accountId, { ...input, llmKeys: [{ ...key, provider: 'q' }] }),
    refusal(/^llm_keys\[0\]\.provider /),
  );
  assert.deepEqual(await store.agents.all(), []);
  await end(plane);
});
