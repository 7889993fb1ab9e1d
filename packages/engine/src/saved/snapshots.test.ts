/**
 * Snapshots on a real database and the fake host: what is saved, in which state the agent is afterwards, and what a kill, a
 * failure or an end leaves.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { makeAgentId, maxSnapshots } from '@lodge/domain';
import { VmError } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { execute } from '@lodge/testkit/postgres';
import { failAt, FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane, PlaneOptions } from '../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const sql = <Row extends object>(text: string) => execute<Row>(world.database.connectionString, text);
const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;
const newId = () => makeAgentId(randomInt);

/** A plane with a running agent that has a word in its memory and on its disk. */
async function start(options: PlaneOptions = {}) {
  const host = new FakeHost();
  const plane = await startPlane(world, host, options);
  const row = await running(world, plane);
  const { guest } = host.guestAt(row.vmAddress!)!;
  guest.memory.set('word', 'plum');
  guest.files.set('word', 'plum');
  return { host, plane, id: row.id };
}

type Input = Parameters<Plane['snapshots']['create']>[1];

const begin = (plane: Plane, agentId: string, input: Partial<Input> = {}, snapshotId = newId()) =>
  plane.snapshots.create({ accountId: world.accountId, agentId, snapshotId }, { memory: true, ...input });

async function saved(plane: Plane, agentId: string, input: Partial<Input> = {}): Promise<SnapshotRow> {
  return plane.snapshots.awaitSaved(await begin(plane, agentId, input), 15_000, never);
}

async function act(plane: Plane, id: string, verb: 'pause' | 'stop'): Promise<void> {
  await plane.agents.act(world.accountId, id, verb);
  await plane.agents.awaitVerb(world.accountId, id, verb, 15_000, never);
}

const eventsOf = (id: string) =>
  sql<{ type: string; data: Record<string, unknown> }>(
    `select type, data from events where agent_id = '${id}' and type like 'snapshot.%' order by id`,
  );

const list = (plane: Plane, agentId: string) => plane.snapshots.ofAgent(world.accountId, agentId, { limit: 100 });

test('a running agent is saved between two turns and goes on, its gateway open; the event says so', async () => {
  const { host, plane, id } = await start();
  const row = await saved(plane, id, { name: 'before the move' });
  assert.deepEqual(
    [row.status, row.kind, row.name, row.memory, row.loads, row.error],
    ['ready', 'named', 'before the move', true, 'memory', null],
  );
  assert.ok(Number(row.bytes) > 0 && Number(row.diskBytes) > 0);
  const kept = host.saved.get(row.id)!;
  assert.deepEqual([kept.memory?.get('word'), kept.memory?.get('suspended')], ['plum', 'yes']);
  const agent = await find(id);
  assert.deepEqual([agent.status, agent.operation], ['running', null]);
  assert.equal(host.guestAt(agent.vmAddress!)!.guest.memory.has('suspended'), false, 'its gateway is open');
  const [asked, made] = await eventsOf(id);
  assert.deepEqual([asked?.type, made?.type], ['snapshot.requested', 'snapshot.created']);
  assert.equal(made?.data['still_ms'], 1);
  await plane.end();
});

test('a paused agent is saved as it stands and stays paused; a stopped one without its VM; each has its memory', async () => {
  const { host, plane, id } = await start();
  await act(plane, id, 'pause');
  const calls = plane.calls.length;
  assert.equal((await saved(plane, id)).loads, 'memory');
  assert.deepEqual([(await find(id)).status, host.vms.get(id)?.paused], ['paused', true]);
  assert.equal(plane.calls.length, calls, 'its runtime is asked nothing');
  await act(plane, id, 'stop');
  assert.equal((await saved(plane, id)).loads, 'memory');
  assert.deepEqual([(await find(id)).status, host.restOf(id) !== null], ['stopped', true]);
  await plane.end();
});

test('without memory no turn is waited for and no gateway closed; an agent in error has its disk saved, and no more', async () => {
  const { host, plane, id } = await start();
  plane.troubles.endless = true;
  const calls = plane.calls.length;
  const row = await saved(plane, id, { memory: false });
  assert.deepEqual([row.status, row.memory, row.loads], ['ready', false, 'disk']);
  assert.equal(host.saved.get(row.id)?.memory, null);
  assert.equal(plane.calls.length, calls, 'its runtime is asked nothing');
  plane.troubles.endless = false;
  host.behaviour = failAt('daemon');
  await plane.agents.act(world.accountId, id, 'restart');
  await until('it is in error', async () => (await find(id)).status === 'error');
  host.behaviour = () => Promise.resolve();
  await assert.rejects(begin(plane, id), { code: 'agent_not_running', message: /"memory": false/ });
  assert.equal((await saved(plane, id, { memory: false })).status, 'ready');
  assert.equal((await find(id)).status, 'error');
  await plane.end();
});

test('a turn that does not end in time is 409, and a save that fails says why; the agent is as it was', async () => {
  const { host, plane, id } = await start({ bounds: { saveQuiesceMs: 300 } });
  plane.troubles.busy = true;
  await assert.rejects(saved(plane, id), { code: 'agent_busy', retryAfterSeconds: 10 });
  plane.troubles.endless = true;
  await assert.rejects(saved(plane, id), { code: 'agent_busy' });
  plane.troubles.endless = false;
  host.behaviour = failAt('keep', 'disk_full', 1);
  await assert.rejects(saved(plane, id), { code: 'insufficient_capacity', message: /no room/ });
  host.behaviour = failAt('still', 'failed', 1);
  await assert.rejects(saved(plane, id), { code: 'internal_error', message: /could not be saved/ });
  const agent = await find(id);
  assert.deepEqual([agent.status, agent.operation, agent.statusReason], ['running', null, null]);
  const vm = host.guestAt(agent.vmAddress!)!;
  assert.deepEqual([vm.paused, vm.guest.memory.has('suspended'), vm.guest.memory.get('word')], [false, false, 'plum']);
  const rows = await list(plane, id);
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['failed', 'failed', 'failed', 'failed'],
  );
  assert.ok(rows.every(({ error }) => error !== null));
  assert.equal(host.saved.size, 0);
  assert.equal((await saved(plane, id)).status, 'ready');
  await plane.end();
});

for (const step of ['still', 'keep', 'after'] as const) {
  test(`a control plane killed at ${step} of a save is followed by one that brings it to its end`, async () => {
    const { host, plane: killed, id } = await start();
    const reached = Promise.withResolvers<void>();
    const stuck = (): Promise<void> => (reached.resolve(), new Promise(() => undefined));
    host.behaviour = (at) => (at === step ? stuck() : Promise.resolve());
    const save = host.save.bind(host);
    // The machine is saved, and nobody heard of it.
    if (step === 'after') host.save = (...given) => (killed.kill(), reached.resolve(), save(...given));
    const begun = await begin(killed, id);
    await reached.promise;
    if (step !== 'after') killed.kill();
    host.save = save;
    host.behaviour = () => Promise.resolve();
    const plane = await startPlane(world, host);
    const row = await plane.snapshots.awaitSaved(begun, 15_000, never);
    assert.equal(row.status, 'ready');
    assert.deepEqual([...host.saved.keys()], [row.id]);
    const agent = await find(id);
    assert.deepEqual([agent.status, agent.operation], ['running', null]);
    await until('its machine runs, gateway open', () => {
      const vm = host.guestAt(agent.vmAddress!);
      return vm !== null && vm !== undefined && !vm.paused && !vm.guest.memory.has('suspended');
    });
    assert.equal(host.guestAt(agent.vmAddress!)!.guest.memory.get('word'), 'plum');
    await plane.end();
  });
}

test('a VM that dies while it is saved leaves a failed snapshot and an agent that runs from its disk', async () => {
  const { host, plane, id } = await start();
  const reached = Promise.withResolvers<void>();
  const died = Promise.withResolvers<void>();
  host.behaviour = (at) => (at === 'keep' ? (reached.resolve(), died.promise) : Promise.resolve());
  const begun = await begin(plane, id);
  await reached.promise;
  host.behaviour = () => Promise.resolve();
  host.kill(id);
  died.reject(new VmError('gone', 'it ended'));
  await until('the save has failed', async () => {
    const [row] = await list(plane, id);
    return row?.id === begun.id && row.status === 'failed';
  });
  await until('it runs again', async () => (await find(id)).status === 'running');
  assert.equal((await find(id)).operation, null);
  await plane.end();
});

test('while an agent is saved no other operation begins, and messages wait for its end', async () => {
  const { host, plane, id } = await start();
  const go = Promise.withResolvers<void>();
  host.behaviour = (at) => (at === 'keep' ? go.promise : Promise.resolve());
  const begun = await begin(plane, id);
  await assert.rejects(plane.agents.act(world.accountId, id, 'stop'), { code: 'agent_transitioning' });
  await assert.rejects(begin(plane, id), { code: 'agent_transitioning' });
  await assert.rejects(plane.snapshots.remove(world.accountId, begun.id), { code: 'snapshot_not_ready' });
  const use = plane.agents.use(world.accountId, id, { wake: false, message: true, timeoutMs: 15_000, signal: never });
  go.resolve();
  const live = await use;
  assert.equal(live.row.operation, null);
  live.release();
  assert.equal((await find(id)).turns, 1, 'a turn that waited counts as one');
  await plane.end();
});

test('a snapshot is changed, listed by agent, kind and page, and deleted; its machine goes with it', async () => {
  const { host, plane, id } = await start({ snapshotsEveryMs: 60_000 });
  const rows = [];
  for (const name of ['a', 'b', 'c']) rows.push(await saved(plane, id, { name, memory: false }));
  const { accountId } = world;
  const [first, second, third] = rows as [SnapshotRow, SnapshotRow, SnapshotRow];
  const page = await plane.snapshots.list(accountId, { agentId: id, kind: 'named', limit: 2 });
  assert.deepEqual(
    page.map(({ name }) => name),
    ['c', 'b'],
  );
  const rest = await plane.snapshots.list(accountId, { agentId: id, before: second, limit: 2 });
  assert.deepEqual(
    rest.map(({ name }) => name),
    ['a'],
  );
  const changed = await plane.snapshots.update(accountId, first.id, { name: null, note: 'n', pinned: true });
  assert.deepEqual([changed.name, changed.note, changed.pinned], [null, 'n', true]);
  await assert.rejects(plane.snapshots.update(accountId, first.id, { expiresAt: new Date(0) }), {
    code: 'invalid_request',
  });
  await assert.rejects(plane.snapshots.get('another', first.id), { code: 'snapshot_not_found' });
  await assert.rejects(plane.snapshots.remove('another', first.id), { code: 'snapshot_not_found' });
  await plane.snapshots.remove(accountId, third.id);
  await assert.rejects(plane.snapshots.get(accountId, third.id), { code: 'snapshot_not_found' });
  await until('its machine is freed', () => host.saved.size === 2);
  assert.equal((await eventsOf(id)).at(-1)?.data['why'], 'request');
  await plane.end();
});

test('an agent has 50 snapshots, and an account so many GiB of them', async () => {
  const { plane, id } = await start({ snapshots: { accountGib: 1 } });
  const row = await saved(plane, id, { memory: false });
  await sql(`update snapshots set bytes = ${2 ** 30} where id = '${row.id}'`);
  await assert.rejects(begin(plane, id), { code: 'quota_exceeded', message: /1 GiB/ });
  await sql(`update snapshots set bytes = 0 where id = '${row.id}'`);
  for (let n = 1; n < maxSnapshots; n += 1) {
    await sql(
      `insert into snapshots (id, account_id, agent_id, kind, status, memory, runtime_kind, size, turns)
       values ('${newId()}', '${world.accountId}', '${id}', 'named', 'ready', false, 'runtime_a', 'small', 0)`,
    );
  }
  await assert.rejects(begin(plane, id), { code: 'quota_exceeded', message: /50 snapshots/ });
  await sql(`delete from snapshots where agent_id = '${id}'`);
  await plane.end();
});

test('deleting an agent deletes its snapshots but pinned ones, which can still be read and deleted', async () => {
  const { host, plane, id } = await start({ snapshotsEveryMs: 50 });
  const plain = await saved(plane, id, { memory: false });
  const pinned = await saved(plane, id, { pinned: true });
  await plane.agents.delete(world.accountId, id, never);
  await assert.rejects(plane.snapshots.get(world.accountId, plain.id), { code: 'snapshot_not_found' });
  assert.equal((await plane.snapshots.get(world.accountId, pinned.id)).status, 'ready');
  await until('the other machine is freed', () => host.saved.size === 1);
  assert.ok(host.saved.has(pinned.id));
  await plane.snapshots.remove(world.accountId, pinned.id);
  await until('nothing is left', () => host.saved.size === 0);
  await plane.end();
});
