/** Starts from the saved machine that an agent's row names, on a real database and the fake host. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { makeAgentId } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import { execute } from '@lodge/testkit/postgres';
import { failAt, fakeMemorySteps, fakeSteps, FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const sql = <Row extends object>(text: string) => execute<Row>(world.database.connectionString, text);
const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;

async function act(plane: Plane, id: string, verb: 'start' | 'stop'): Promise<AgentRow> {
  await plane.agents.act(world.accountId, id, verb);
  return plane.agents.awaitVerb(world.accountId, id, verb, 15_000, never);
}

/** A stopped agent whose present word is `plum` and whose next start begins from a snapshot with `pear`. */
async function stopped({
  memory = true,
  wanted = true,
}: { readonly memory?: boolean; readonly wanted?: boolean } = {}) {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id, vmAddress } = await running(world, plane);
  const { guest } = host.guestAt(vmAddress!)!;
  const say = (word: string) => [guest.memory, guest.files].forEach((part) => part.set('word', word));
  say('pear');
  guest.memory.set('thought', 'half');
  const place = { accountId: world.accountId, agentId: id, snapshotId: makeAgentId(randomInt) };
  const begun = await plane.snapshots.create(place, { memory });
  await plane.snapshots.awaitSaved(begun, 15_000, never);
  say('plum');
  await act(plane, id, 'stop');
  await sql(`update agents set next_from = '${begun.id}', next_memory = ${wanted},
    settings_applied = 'old', packages_applied = 'old', skills_applied = 'old' where id = '${id}'`);
  return { host, plane, id, snapshot: begun.id };
}

const eventsOf = (id: string) =>
  sql<{ type: string; data: Record<string, unknown> }>(
    `select type, data from events where agent_id = '${id}' order by id`,
  );

/** Words of the agent that runs: of its memory, and whether the memory itself came along. */
async function wordsOf(host: FakeHost, id: string) {
  const row = await find(id);
  const { memory } = host.guestAt(row.vmAddress!)!.guest;
  return { word: memory.get('word'), thought: memory.get('thought'), suspended: memory.has('suspended') };
}

async function assertRuns(host: FakeHost, id: string, snapshot: string, from: 'saved_memory' | 'saved_disk') {
  const row = await find(id);
  assert.deepEqual(
    [row.status, row.operation, row.nextFrom, row.nextMemory, row.host !== null],
    ['running', null, null, false, true],
  );
  const thought = from === 'saved_memory' ? 'half' : undefined;
  const { thought: found, ...words } = await wordsOf(host, id);
  assert.deepEqual(words, { word: 'pear', suspended: false });
  if (from === 'saved_memory') assert.equal(found, thought);
  assert.notEqual(row.settingsApplied, 'old');
  assert.notEqual(row.packagesApplied, 'old');
  assert.notEqual(row.skillsApplied, 'old');
  assert.ok(host.saved.has(snapshot), 'the snapshot stays');
  const last = (await eventsOf(id)).findLast(({ type }) => type === 'agent.started');
  assert.equal(last?.data['from'], from);
}

test('its memory goes on, its gateway opens, and its settings are applied again', async () => {
  const { host, plane, id, snapshot } = await stopped();
  await act(plane, id, 'start');
  await assertRuns(host, id, snapshot, 'saved_memory');
  assert.equal((await find(id)).templateId, host.saved.get(snapshot)!.templateId);
  await act(plane, id, 'stop');
  await act(plane, id, 'start');
  assert.equal((await wordsOf(host, id)).word, 'pear', 'from then on it has that machine');
  await plane.end();
});

test('without memory, or where none is wanted, its disk is booted', async () => {
  for (const options of [{ memory: false, wanted: true }, { wanted: false }]) {
    const { host, plane, id, snapshot } = await stopped(options);
    await act(plane, id, 'start');
    await assertRuns(host, id, snapshot, 'saved_disk');
    assert.ok(plane.calls.includes('awaitBoot'));
    await plane.end();
  }
});

const noMemory: readonly [string, (of: Awaited<ReturnType<typeof stopped>>) => void, object][] = [
  ['was saved on another host', ({ host }) => (host.isForeign = true), { missing: false, foreign: true }],
  ['does not load', ({ host }) => (host.behaviour = failAt('load', 'failed', 1)), { missing: false }],
  ['has a runtime that does not answer', ({ plane }) => (plane.troubles.failsToStart = true), { missing: false }],
];
for (const [what, spoil, data] of noMemory) {
  test(`a memory that ${what} is left, its disk is booted, and the event says so`, async () => {
    const made = await stopped();
    const { host, plane, id, snapshot } = made;
    spoil(made);
    await act(plane, id, 'start');
    await assertRuns(host, id, snapshot, 'saved_disk');
    const failed = (await eventsOf(id)).find(({ type }) => type === 'agent.restore_failed');
    assert.deepEqual(failed?.data, data);
    await plane.end();
  });
}

test('a damaged machine is marked so and starts nothing; the agent is in error and goes on naming it', async () => {
  const { host, plane, id, snapshot } = await stopped();
  const saved = host.saved.get(snapshot)!;
  saved.damaged = 'a bit flipped';
  await assert.rejects(act(plane, id, 'start'), { code: 'internal_error', message: /from its snapshot/ });
  const row = await find(id);
  assert.deepEqual([row.status, row.statusReason?.code, row.nextFrom], ['error', 'resume_failed', snapshot]);
  assert.equal((await plane.snapshots.get(world.accountId, snapshot)).status, 'damaged');
  saved.damaged = null;
  await act(plane, id, 'start');
  assert.equal((await wordsOf(host, id)).word, 'pear');
  await plane.end();
});

test('a machine that is gone starts nothing, and a host without room leaves the agent stopped', async () => {
  const { host, plane, id, snapshot } = await stopped();
  for (const code of ['no_capacity', 'disk_full'] as const) {
    host.behaviour = failAt('start', code, 1);
    await assert.rejects(act(plane, id, 'start'), { code: 'internal_error', message: /no room/ });
    const { status, nextFrom, nextMemory } = await find(id);
    assert.deepEqual([status, nextFrom, nextMemory], ['stopped', snapshot, true]);
  }
  host.saved.delete(snapshot);
  await assert.rejects(act(plane, id, 'start'), { code: 'internal_error' });
  assert.equal((await find(id)).status, 'error');
  await plane.end();
});

const steps = [
  ...fakeMemorySteps.map((step) => ({ step, memory: true })),
  ...fakeSteps.map((step) => ({ step, memory: false })),
];
for (const { step, memory } of steps) {
  test(`a control plane killed at ${step} of a start ${memory ? 'with' : 'without'} memory is followed by one that ends it`, async () => {
    const { host, plane: killed, id, snapshot } = await stopped({ wanted: memory });
    const reached = Promise.withResolvers<void>();
    host.behaviour = (at) => (at === step ? (reached.resolve(), new Promise(() => undefined)) : Promise.resolve());
    await killed.agents.act(world.accountId, id, 'start');
    await reached.promise;
    killed.kill();
    host.behaviour = () => Promise.resolve();
    const plane = await startPlane(world, host);
    await until('it runs', async () => (await find(id)).status === 'running');
    await assertRuns(host, id, snapshot, memory ? 'saved_memory' : 'saved_disk');
    assert.equal(host.vms.size, 1);
    await plane.end();
  });
}
