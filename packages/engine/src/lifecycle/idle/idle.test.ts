/** Idle agents go to sleep, an agent in use never does, and many requests that wake one agent wake it once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FakeHost, hangAt } from '@lodge/vm/fake';
import { input, never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const sleepy = { ...input.lifecycle, idleTimeoutSeconds: 1, stopAfterSeconds: 1 };
const find = async (id: string) => (await world.store.agents.find(id))!;
const options = { wake: false, timeoutMs: 120_000, signal: never };
const isIn = (id: string, status: string) =>
  until(`${id} is ${status}`, async () => (await find(id)).status === status);
const act = async (plane: Plane, id: string, verb: 'pause' | 'stop') => {
  await plane.agents.act(world.accountId, id, verb);
  return plane.agents.awaitVerb(world.accountId, id, verb, 120_000, never);
};

test('an agent that nobody uses is paused and then stopped; one that is used, or kept awake, is not', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const idle = await running(world, plane, { lifecycle: sleepy });
  const used = await running(world, plane, { lifecycle: sleepy });
  const awake = await running(world, plane, { lifecycle: { ...sleepy, keepAwake: 'always' } });
  const live = await plane.agents.use(world.accountId, used.id, options);
  await isIn(idle.id, 'paused');
  await isIn(idle.id, 'stopped');
  assert.deepEqual([(await find(used.id)).status, (await find(awake.id)).status], ['running', 'running']);
  live.release();
  await isIn(used.id, 'paused');
  assert.ok(plane.calls.includes('flush'), 'the guest wrote its disk out after the turn');
  await plane.end();
});

test('a call that did not come by a request keeps its agent awake until it ends', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane, { lifecycle: sleepy });
  const end = plane.agents.busy(id);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal((await find(id)).status, 'running');
  end();
  end();
  await isIn(id, 'paused');
  await plane.end();
});

test('many requests at once wake a paused agent once, and all are served', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id, generation } = await running(world, plane);
  await act(plane, id, 'pause');
  const lives = await Promise.all(Array.from({ length: 20 }, () => plane.agents.use(world.accountId, id, options)));
  assert.equal((await find(id)).generation, generation + 2);
  for (const live of lives) {
    assert.equal(live.row.status, 'running');
    live.release();
  }
  await plane.end();
});

test('requests that end at once share the writing out of the disk, which begins behind all of them', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  const flushes = (): number => plane.calls.filter((call) => call === 'flush').length;
  const lives = await Promise.all(Array.from({ length: 20 }, () => plane.agents.use(world.accountId, id, options)));
  const first = lives[0]!.flush();
  const guest = host.guestAt(lives[0]!.guest.address)!.guest;
  guest.memory.set('later', 'yes');
  await Promise.all(lives.slice(1).map(({ flush }) => flush()));
  await first;
  assert.deepEqual([flushes(), guest.files.get('later')], [2, 'yes']);
  for (const live of lives) live.release();
  await plane.agents.use(world.accountId, id, options).then((live) => live.flush().then(live.release));
  assert.equal(flushes(), 3, 'one that comes later is not served by an earlier one');
  await plane.end();
});

test('a stopped agent is refused, unless it is asked to be woken or may start by itself', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  await act(plane, id, 'stop');
  const refusal = { code: 'agent_not_running', message: 'Agent is not running. Start it first.' };
  await assert.rejects(plane.agents.use(world.accountId, id, options), refusal);
  (await plane.agents.use(world.accountId, id, { ...options, wake: true })).release();
  await act(plane, id, 'stop');
  await plane.agents.update(world.accountId, id, { lifecycle: { autoStart: true } });
  (await plane.agents.use(world.accountId, id, options)).release();
  await plane.end();
});

test('a paused agent that may not resume by itself is refused', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane, { lifecycle: { ...input.lifecycle, autoResume: false } });
  await act(plane, id, 'pause');
  await assert.rejects(plane.agents.use(world.accountId, id, options), { code: 'agent_not_running' });
  await plane.end();
});

test('a request that meets a stop waits for its end, within its bound, and is then served or refused', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  host.behaviour = hangAt('save');
  await plane.agents.act(world.accountId, id, 'stop');
  const soon = plane.agents.use(world.accountId, id, { ...options, wake: true, timeoutMs: 300 });
  await assert.rejects(soon, { code: 'agent_transitioning' });
  await plane.agents.delete(world.accountId, id, never);
  await assert.rejects(plane.agents.use(world.accountId, id, options), { code: 'agent_not_found' });
  await plane.end();
});

test("another account's request neither serves nor holds the agent", async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane, { lifecycle: sleepy });
  await assert.rejects(plane.agents.use('another', id, options), { code: 'agent_not_found' });
  await isIn(id, 'paused');
  await plane.end();
});

test('a create that does not fit stops the paused agent that was active longest ago, and no other', async () => {
  const host = new FakeHost();
  host.memory = { totalMib: 1024 + 3 * 2048, availableMib: 8_000 };
  // Asleep they hold all that their sizes allow.
  host.usage = { ...host.usage, memoryMib: 2048 };
  const plane = await startPlane(world, host);
  const [old, recent, busy] = [await running(world, plane), await running(world, plane), await running(world, plane)];
  await act(plane, old.id, 'pause');
  await act(plane, recent.id, 'pause');
  (await plane.agents.use(world.accountId, recent.id, options)).release();
  await act(plane, recent.id, 'pause');
  assert.equal((await running(world, plane)).status, 'running');
  assert.deepEqual(await Promise.all([old, recent, busy].map(async ({ id }) => (await find(id)).status)), [
    'stopped',
    'paused',
    'running',
  ]);
  await assert.rejects(
    plane.agents.act(world.accountId, old.id, 'start').then(() => plane.agents.create(world.accountId, input)),
    { code: 'insufficient_capacity' },
  );
  await plane.end();
});

test('paused agents are stopped when the memory of the host runs short', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  await act(plane, id, 'pause');
  host.memory = { ...host.memory, availableMib: 500 };
  await isIn(id, 'stopped');
  await plane.end();
});
