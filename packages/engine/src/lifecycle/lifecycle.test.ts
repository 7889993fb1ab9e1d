/**
 * Verbs on a real database and the fake host: each reaches its goal or says why not, and a kill during it changes neither.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Verb } from '@lodge/domain';
import { restOf } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { execute } from '@lodge/testkit/postgres';
import { failAt, fakeMemorySteps, FakeHost, fakeRestSteps, hangAt } from '@lodge/vm/fake';
import type { FakeStep } from '@lodge/vm/fake';
import { input, never, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';
import { logPage } from '@lodge/store/logs';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

/** Acts and waits for the end of the operation. */
async function done(plane: Plane, id: string, verb: Verb): Promise<AgentRow> {
  await plane.agents.act(world.accountId, id, verb);
  return plane.agents.awaitVerb(world.accountId, id, verb, 15_000, never);
}

const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;
const logOf = async (id: string): Promise<string[]> => {
  const entries = await world.store.database.repeatable((db) =>
    logPage(db, { agentId: id, limit: 100, direction: 'asc', source: 'system' }),
  );
  return entries.map(({ message }) => message);
};

/** A running agent that has remembered a word, in its memory and on its disk. */
async function agent(host: FakeHost, plane: Plane): Promise<AgentRow> {
  const row = await running(world, plane);
  const { guest } = host.guestAt(row.vmAddress!)!;
  guest.memory.set('word', 'plum');
  guest.files.set('word', 'plum');
  return row;
}
const wordOf = (host: FakeHost, { vmAddress }: AgentRow) => host.guestAt(vmAddress!)?.guest.memory.get('word');

test('pause freezes and resume goes on, with the same VM; both say so in the log', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const before = await agent(host, plane);
  const paused = await done(plane, before.id, 'pause');
  assert.deepEqual([paused.status, paused.operation, paused.pausedAt !== null], ['paused', null, true]);
  assert.equal(host.vms.get(before.id)?.paused, true);
  const resumed = await done(plane, before.id, 'resume');
  assert.deepEqual([resumed.status, resumed.executionId, resumed.pausedAt], ['running', before.executionId, null]);
  assert.equal(wordOf(host, resumed), 'plum');
  const log = (await logOf(before.id)).join('\n');
  assert.match(log, /Paused by request \(/);
  assert.match(log, /Resumed by request \(/);
  await plane.end();
});

test('a stop frees everything but the machine at rest, and a start goes on from there', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const before = await agent(host, plane);
  host.guestAt(before.vmAddress!)!.guest.memory.set('thought', 'half');
  const stopped = await done(plane, before.id, 'stop');
  assert.deepEqual([stopped.status, stopped.vmAddress, stopped.stoppedAt !== null], ['stopped', null, true]);
  assert.deepEqual([host.vms.has(before.id), host.restOf(before.id)?.executionId], [false, before.executionId]);
  const started = await done(plane, before.id, 'start');
  assert.equal(started.status, 'running');
  assert.notEqual(started.executionId, before.executionId);
  const { guest } = host.guestAt(started.vmAddress!)!;
  assert.deepEqual([guest.memory.get('thought'), guest.memory.has('suspended')], ['half', false]);
  assert.match((await logOf(before.id)).join('\n'), /Stopped by request \(.*\n.*Running: resumed from the snapshot/);
  await plane.end();
});

test('a paused agent is stopped as well: it goes on for as long as its runtime needs to write out', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await agent(host, plane);
  await done(plane, id, 'pause');
  assert.equal((await done(plane, id, 'stop')).status, 'stopped');
  assert.equal(wordOf(host, await done(plane, id, 'resume')), 'plum');
  await plane.end();
});

test('a restart ends the runtime in order and boots the disk', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const before = await agent(host, plane);
  host.guestAt(before.vmAddress!)!.guest.memory.set('unsaved', 'yes');
  const after = await done(plane, before.id, 'restart');
  assert.equal(after.status, 'running');
  assert.notEqual(after.executionId, before.executionId);
  assert.equal(host.guestAt(after.vmAddress!)!.guest.memory.get('unsaved'), 'yes');
  assert.ok(plane.calls.indexOf('shutdown') < plane.calls.indexOf('awaitBoot'));
  await plane.end();
});

test('a runtime at work keeps its agent running, and so does a snapshot that fails; the record says why', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await agent(host, plane);
  plane.troubles.busy = true;
  await assert.rejects(done(plane, id, 'stop'), { code: 'internal_error', message: /was at work/ });
  for (const code of ['failed', 'disk_full'] as const) {
    host.behaviour = failAt('save', code, 1);
    await assert.rejects(done(plane, id, 'stop'), { code: 'internal_error', message: /snapshot/ });
  }
  const row = await find(id);
  assert.deepEqual([row.status, row.statusReason?.code, row.operation], ['running', 'snapshot_failed', null]);
  assert.equal(host.guestAt(row.vmAddress!)?.guest.memory.has('suspended'), false);
  assert.equal(wordOf(host, row), 'plum');
  assert.equal((await done(plane, id, 'stop')).status, 'stopped');
  await plane.end();
});

test('a snapshot that does not load is passed over for the disk, and the log says so', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await agent(host, plane);
  await done(plane, id, 'stop');
  host.saved.set(restOf(id), { ...host.restOf(id)!, memory: null });
  const row = await done(plane, id, 'start');
  assert.deepEqual([row.status, wordOf(host, row)], ['running', 'plum']);
  assert.match((await logOf(id)).join('\n'), /snapshot .* damaged; it is being started from its disk/);
  await plane.end();
});

test('a start that fails from the disk too ends in resume_failed; start, restart and delete lead out of it', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await agent(host, plane);
  await done(plane, id, 'stop');
  host.behaviour = failAt('daemon');
  await assert.rejects(done(plane, id, 'start'), { code: 'internal_error' });
  const row = await find(id);
  assert.deepEqual([row.status, row.statusReason?.code], ['error', 'resume_failed']);
  assert.deepEqual([host.vms.has(id), host.restOf(id) !== null], [false, true]);
  await assert.rejects(plane.agents.act(world.accountId, id, 'resume'), { code: 'agent_not_resumable' });
  host.behaviour = () => Promise.resolve();
  assert.equal(wordOf(host, await done(plane, id, 'start')), 'plum');
  await plane.end();
});

test('a start that the host has no room for leaves the agent stopped with its snapshot', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await agent(host, plane);
  await done(plane, id, 'stop');
  for (const code of ['no_capacity', 'disk_full'] as const) {
    host.behaviour = failAt('start', code, 1);
    await assert.rejects(done(plane, id, 'start'), { code: 'internal_error', message: /no room/ });
    assert.deepEqual([(await find(id)).status, host.restOf(id) !== null], ['stopped', true]);
  }
  assert.equal(wordOf(host, await done(plane, id, 'start')), 'plum');
  await plane.end();
});

test('two requests for one goal are one operation; another one meanwhile is refused', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await agent(host, plane);
  host.behaviour = hangAt('save');
  const [first, second] = await Promise.all([1, 2].map(() => plane.agents.act(world.accountId, id, 'stop')));
  assert.equal(first!.row.generation, second!.row.generation);
  await assert.rejects(plane.agents.act(world.accountId, id, 'pause'), { code: 'agent_transitioning' });
  await assert.rejects(plane.agents.act(world.accountId, id, 'restart'), { code: 'agent_transitioning' });
  await plane.agents.delete(world.accountId, id, never);
  assert.equal(host.vms.size, 0);
  await plane.end();
});

const goals = { pause: 'paused', resume: 'running', stop: 'stopped', start: 'running', restart: 'running' } as const;
const verbAt: readonly (readonly [keyof typeof goals, FakeStep])[] = [
  ['pause', 'pause'],
  ['resume', 'resume'],
  ...fakeRestSteps.map((step) => ['stop', step] as const),
  ...fakeMemorySteps.map((step) => ['start', step] as const),
  ['restart', 'disk'],
  ['restart', 'daemon'],
];

for (const [verb, step] of verbAt) {
  test(`a control plane killed at ${step} of a ${verb} is followed by one that brings it to its end`, async () => {
    const host = new FakeHost();
    const killed = await startPlane(world, host);
    const { id } = await agent(host, killed);
    if (verb === 'resume') await done(killed, id, 'pause');
    if (verb === 'start') await done(killed, id, 'stop');
    const reached = Promise.withResolvers<void>();
    host.behaviour = (at) => (at === step ? (reached.resolve(), new Promise(() => undefined)) : Promise.resolve());
    await killed.agents.act(world.accountId, id, verb);
    await reached.promise;
    killed.kill();
    host.behaviour = () => Promise.resolve();
    const plane = await startPlane(world, host);
    const row = await plane.agents.awaitVerb(world.accountId, id, verb, 15_000, never);
    assert.deepEqual([row.status, row.operation], [goals[verb], null]);
    if (row.status !== 'running') await done(plane, id, 'start');
    assert.equal(wordOf(host, await find(id)), 'plum');
    await plane.end();
  });
}

test('however many guests of one account are silent as they are saved, another account’s agent stops', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const silent = await Promise.all(Array.from({ length: 4 }, () => running(world, plane)));
  const accountId = randomUUID();
  const { connectionString } = world.database;
  await execute(connectionString, `insert into accounts (id, name, role) values ('${accountId}', 'B', 'member')`);
  const { id } = await running({ accountId }, plane);
  const begun = new Set<string>();
  host.behaviour = (step, { agentId }, signal) => {
    if (step !== 'freeze' || agentId === id) return Promise.resolve();
    begun.add(agentId);
    return hangAt('freeze')(step, { agentId, executionId: '' }, signal);
  };
  for (const agent of silent) await plane.agents.act(world.accountId, agent.id, 'stop');
  await until('two of them are being saved', () => begun.size >= 2);
  await plane.agents.act(accountId, id, 'stop');
  assert.equal((await plane.agents.awaitVerb(accountId, id, 'stop', 15_000, never)).status, 'stopped');
  assert.equal(begun.size, 2);
  await plane.agents.delete(accountId, id, never);
  await plane.end();
});

test('a step that never ends is ended by its bound', async () => {
  const host = new FakeHost();
  const bounds = { freezeMs: 200, snapshotMs: 200, restoreMs: 200, thawMs: 200, removeMs: 200 };
  const plane = await startPlane(world, host, { bounds, provisionTimeoutMs: 1_000 });
  const { id } = await agent(host, plane);
  host.behaviour = hangAt('save');
  await assert.rejects(done(plane, id, 'stop'), { code: 'internal_error' });
  host.behaviour = () => Promise.resolve();
  await done(plane, id, 'stop');
  host.behaviour = hangAt('daemon');
  await assert.rejects(done(plane, id, 'start'), { code: 'internal_error' });
  assert.equal((await find(id)).statusReason?.code, 'resume_failed');
  await plane.end();
});

test('an agent waits for its template as long as that is being made, and then has its own time', async () => {
  const image = { id: 'image', rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };
  const slowly = async <T>(answer: T): Promise<T> => sleep(2_000, answer);
  const images = { idOf: () => slowly(image.id), find: () => slowly(image), ensure: () => slowly(image) };
  const plane = await startPlane(world, new FakeHost(), { images, provisionTimeoutMs: 3_000 });
  assert.equal((await running(world, plane)).status, 'running');
  await plane.end();
});

test('an agent whose template cannot be made is failed when its time is over', async () => {
  const failing = () => sleep(100).then(() => Promise.reject(new Error('no mirror answers')));
  const images = { idOf: () => Promise.resolve('image'), find: () => Promise.resolve(null), ensure: failing };
  const plane = await startPlane(world, new FakeHost(), { images, provisionTimeoutMs: 1_000 });
  await assert.rejects(running(world, plane));
  const [row] = (await world.store.agents.all()).filter(({ status }) => status === 'error');
  assert.equal(row?.statusReason?.code, 'provisioning_timeout');
  await plane.end();
});

test('on a slow host a step has its bound as many times', async () => {
  const host = new FakeHost();
  host.pace = 20;
  const plane = await startPlane(world, host, { bounds: { snapshotMs: 1_000 } });
  const { id } = await agent(host, plane);
  host.behaviour = (step) => (step === 'save' ? sleep(3_000) : Promise.resolve());
  await done(plane, id, 'stop');
  assert.equal((await find(id)).status, 'stopped');
  await plane.end();
});

test('a size that grows is in effect without a restart; memory that is not given back waits for the next start', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const before = await agent(host, plane);
  await plane.agents.update(world.accountId, before.id, { size: 'large' });
  await until('the machine has grown', async () => (await find(before.id)).machine?.memoryMib === 8192);
  assert.equal((await find(before.id)).executionId, before.executionId);
  host.leastMemoryMib = 4096;
  await plane.agents.update(world.accountId, before.id, { size: 'small' });
  await until(
    'the machine has shrunk as far as it goes',
    async () => (await find(before.id)).machine?.memoryMib === 4096,
  );
  assert.match((await logOf(before.id)).at(-1)!, /at its next start/);
  const restarted = await done(plane, before.id, 'restart');
  assert.deepEqual(restarted.machine, { vcpus: 1, memoryMib: 2048, diskGib: 10 });
  await plane.end();
});

test('a change of the record replaces what it names and keeps the rest', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await plane.agents.create(world.accountId, {
    ...input,
    labels: { team: 'x', tier: 'y' },
    metadata: { a: '1', b: '2' },
    llmKeys: [{ provider: 'p', apiKey: 'key-number-one' }],
  });
  const change = {
    name: 'B',
    labels: { tier: null, env: 'z' },
    metadata: { a: null, c: '3' },
    lifecycle: { autoStart: true },
  };
  const row = await plane.agents.update(world.accountId, id, change);
  assert.deepEqual([row.name, row.metadata, row.llmKeys.length], ['B', { b: '2', c: '3' }, 1]);
  assert.deepEqual(row.labels, { team: 'x', env: 'z' });
  assert.deepEqual(row.lifecycle, { ...input.lifecycle, autoStart: true });
  const bare = await plane.agents.update(world.accountId, id, { llmKeys: [{ provider: 'p', apiKey: null }] });
  assert.deepEqual(bare.llmKeys, []);
  await plane.agents.update(world.accountId, id, { llmKeys: [{ provider: 'p', apiKey: 'key-number-two' }] });
  assert.deepEqual((await plane.agents.update(world.accountId, id, { llmKeys: null })).llmKeys, []);
  const many = Object.fromEntries(Array.from({ length: 49 }, (_, at) => [`k${at}`, '']));
  await assert.rejects(plane.agents.update(world.accountId, id, { labels: many }), {
    message: 'labels would have more than 50 pairs.',
  });
  assert.deepEqual((await plane.agents.update(world.accountId, id, { labels: null })).labels, {});
  await assert.rejects(plane.agents.update(world.accountId, id, { model: 'q/m' }), { code: 'invalid_request' });
  await assert.rejects(plane.agents.update('another', id, { name: 'C' }), { code: 'agent_not_found' });
  await plane.end();
});
