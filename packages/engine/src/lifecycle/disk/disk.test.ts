/** Disk is capacity: agents never fill the host's disk, and the agent that wrote is named. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultDisk } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import { FakeHost, hangAt } from '@lodge/vm/fake';
import { input, never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';
import { logPage } from '@lodge/store/logs';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const find = async (id: string) => (await world.store.agents.find(id))!;
const options = { wake: true, timeoutMs: 120_000, signal: never };
const full = { code: 'insufficient_capacity' };
const act = (plane: Plane, { id }: Pick<AgentRow, 'id'>, verb: 'start' | 'stop' | 'pause' | 'resume' | 'restart') =>
  plane.agents.act(world.accountId, id, verb);
const stopped = async (plane: Plane): Promise<AgentRow> => {
  const agent = await running(world, plane);
  await act(plane, agent, 'stop');
  return plane.agents.awaitVerb(world.accountId, agent.id, 'stop', 120_000, never);
};

/**
 * Lets these agents' guests write this many MiB together in each tick until `stop`; returns the least free space there was.
 */
function fill(host: FakeHost, agents: readonly Pick<AgentRow, 'id'>[], mibATick: number) {
  const figures = { leastFreeMib: host.disk.freeMib };
  const timer = setInterval(() => {
    for (const { id } of agents) host.write(id, mibATick / agents.length);
    figures.leastFreeMib = Math.min(figures.leastFreeMib, host.disk.freeMib);
  }, 20);
  return { figures, stop: () => clearInterval(timer) };
}

test('ten that fill the disk are paused before it is full, and told why; who does not write goes on', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const writers = await Promise.all(Array.from({ length: 10 }, () => running(world, plane)));
  const bystander = await running(world, plane);
  const asleep = await stopped(plane);
  host.disk.freeMib = 6_000;
  const filling = fill(host, writers, 40);
  await until('all writers are paused', async () => {
    const rows = await Promise.all(writers.map(({ id }) => find(id)));
    return rows.every(({ status }) => status === 'paused');
  });
  filling.stop();
  assert.ok(filling.figures.leastFreeMib > 0, 'the database has never been without room');
  assert.ok(host.disk.freeMib < defaultDisk.floorMib);
  for (const { id } of writers) {
    const { statusReason } = await find(id);
    assert.equal(statusReason?.code, 'host_disk_full');
    assert.match(statusReason.message, /short of disk space/);
  }
  const log = await world.store.database.repeatable((db) =>
    logPage(db, { agentId: writers[0]!.id, limit: 20, direction: 'desc' }),
  );
  assert.ok(log.some(({ message }) => message.startsWith('Paused because the host is short of disk space')));
  assert.equal((await find(bystander.id)).status, 'running');

  const [writer] = writers;
  await assert.rejects(plane.agents.use(world.accountId, writer!.id, options), full);
  await assert.rejects(act(plane, writer!, 'resume'), full);
  await assert.rejects(act(plane, writer!, 'stop'), full);
  await assert.rejects(act(plane, asleep, 'start'), full);
  await assert.rejects(plane.agents.create(world.accountId, input), full);
  await act(plane, bystander, 'pause');
  await plane.agents.awaitVerb(world.accountId, bystander.id, 'pause', 120_000, never);
  (await plane.agents.use(world.accountId, bystander.id, options)).release();

  // Above the floor, but not far enough to resume agents that would be paused again at once.
  host.disk.freeMib = defaultDisk.floorMib + 1;
  await assert.rejects(act(plane, writer!, 'resume'), full);
  host.disk.freeMib = 100_000;
  for (const { id } of [...writers, asleep]) {
    const live = await plane.agents.use(world.accountId, id, options);
    assert.deepEqual([live.row.status, live.row.statusReason], ['running', null]);
    live.release();
  }
  await plane.end();
});

test('what can be done without is done without before any agent is paused, and again with room', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const agent = await running(world, plane);
  await until('there is room', () => plane.engine.hasRoom());
  host.disk.freeMib = defaultDisk.floorMib * 1.1;
  await until('there is no room for replies and contents', () => !plane.engine.hasRoom());
  assert.equal((await find(agent.id)).status, 'running');
  host.disk.freeMib = 100_000;
  await until('there is room again', () => plane.engine.hasRoom());
  await plane.end();
});

test('of two that write, the one that writes little goes on', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const [much, little] = [await running(world, plane), await running(world, plane)];
  host.disk.freeMib = 2_060;
  const filling = [fill(host, [much], 1), fill(host, [little], 0.001)];
  await until('the first is paused', async () => (await find(much.id)).status === 'paused');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  for (const { stop } of filling) stop();
  assert.equal((await find(little.id)).status, 'running');
  await plane.end();
});

test('an agent that another operation has is frozen where it writes, and goes on when there is room', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const agent = await running(world, plane);
  const vm = host.vms.get(agent.id)!;
  plane.troubles.endless = true;
  await act(plane, agent, 'stop');
  host.disk.freeMib = 2_500;
  const filling = fill(host, [agent], 20);
  await until('its VM is frozen', () => vm.paused);
  assert.equal((await find(agent.id)).operation?.kind, 'stop');
  filling.stop();
  host.disk.freeMib = 100_000;
  await until('its VM goes on', () => !vm.paused);
  await plane.end();
});

test('a VM that writes while it boots is taken away when the disk is nearly full; its disk stays', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const agent = await running(world, plane);
  host.vms.get(agent.id)!.guest.files.set('kept', 'yes');
  host.behaviour = hangAt('daemon');
  await act(plane, agent, 'restart');
  await until('it boots', () => host.vms.get(agent.id)?.phase === 'creating' && host.vms.get(agent.id)!.alive);
  host.disk.freeMib = 1_000;
  const filling = fill(host, [agent], 2);
  await until('nothing of it runs', async () => (await find(agent.id)).status === 'error');
  filling.stop();
  assert.equal(host.vms.get(agent.id)?.guest.files.get('kept'), 'yes');
  host.behaviour = () => Promise.resolve();
  host.disk.freeMib = 100_000;
  await act(plane, agent, 'start');
  await until('it runs', async () => (await find(agent.id)).status === 'running');
  await plane.end();
});

test('creates count what agents may write, by the overcommit; starts what those may that hold memory', async () => {
  const host = new FakeHost();
  const mayWriteMib = 10 * 1024 + 2048;
  const used = host.usage.diskMib;
  const plane = await startPlane(world, host, { disk: { reservedMib: 100, floorMib: 200, overcommit: 2 } });
  const first = await running(world, plane);
  host.disk.freeMib = 300 + mayWriteMib - 1 - used;
  await assert.rejects(plane.agents.create(world.accountId, input), { ...full, message: /disk space/ });
  host.disk.freeMib = 300 + mayWriteMib;
  const second = await running(world, plane);
  await act(plane, first, 'stop');
  await plane.agents.awaitVerb(world.accountId, first.id, 'stop', 120_000, never);
  await assert.rejects(plane.agents.create(world.accountId, input), full);
  host.disk.freeMib = 300 + mayWriteMib / 2;
  await assert.rejects(act(plane, first, 'start'), full);
  await plane.agents.delete(world.accountId, second.id, never);
  await act(plane, first, 'start');
  await plane.end();
});

test('while the disk is short nobody is stopped for idleness, for that writes memory down', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const sleepy = { ...input.lifecycle, idleTimeoutSeconds: 1, stopAfterSeconds: 1 };
  const agent = await running(world, plane, { lifecycle: sleepy });
  host.disk.freeMib = 1_500;
  await until('it is paused', async () => (await find(agent.id)).status === 'paused');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  assert.equal((await find(agent.id)).status, 'paused');
  host.disk.freeMib = 100_000;
  await until('it is stopped', async () => (await find(agent.id)).status === 'stopped');
  await plane.end();
});

test('a stop whose snapshot has no room leaves the agent as it was', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host, { disk: { reservedMib: 0, floorMib: 400, overcommit: 10 } });
  const agent = await running(world, plane);
  host.disk.freeMib = 450;
  await act(plane, agent, 'stop');
  const stop = plane.agents.awaitVerb(world.accountId, agent.id, 'stop', 120_000, never);
  await assert.rejects(stop, { code: 'internal_error', message: /no room for its snapshot/ });
  assert.equal((await find(agent.id)).status, 'running');
  assert.ok(!plane.calls.includes('suspend'), 'its gateway was not closed');
  await plane.end();
});

test('what an agent has written is told', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  assert.equal(plane.agents.diskUsedMib('nobody'), null);
  host.write(id, 500);
  // Near the floor the figures are read often.
  host.disk.freeMib = 2_500;
  await until('it is told', () => plane.agents.diskUsedMib(id) === host.usage.diskMib + 500);
  await plane.end();
});

test('a stop needs room for the pages of its agent that are in swap, too', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const agent = await running(world, plane);
  host.disk.freeMib = 4_000;
  host.usage = { ...host.usage, memoryMib: 100, swappedMib: 3_500 };
  const stop = async (): Promise<AgentRow> => {
    await act(plane, agent, 'stop');
    return plane.agents.awaitVerb(world.accountId, agent.id, 'stop', 120_000, never);
  };
  await assert.rejects(stop(), /no room for its snapshot/);
  assert.equal((await find(agent.id)).status, 'running');
  host.usage = { ...host.usage, swappedMib: 0 };
  assert.equal((await stop()).status, 'stopped');
  await plane.end();
});
