/** Opened snapshots on a real database and the fake host: who shares one, who waits, and what ends it. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeAgentId } from '@lodge/domain';
import { createSnapshotFiles } from './files.ts';
import { findSnapshot } from '@lodge/store/snapshots';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { FakeHost, failAt, hangAt } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane, PlaneOptions } from '../../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const openMs = 10_000;

/** A plane with a running agent and so many snapshots of it. */
async function start(count: number, options: PlaneOptions = {}, input: { memory?: boolean } = {}) {
  const host = new FakeHost();
  const plane = await startPlane(world, host, options);
  const { id: agentId, vmAddress } = await running(world, plane);
  host.guestAt(vmAddress!)!.guest.files.set('workspace/note', 'plum');
  const rows: SnapshotRow[] = [];
  for (let index = 0; index < count; index += 1) {
    const place = { accountId: world.accountId, agentId, snapshotId: makeAgentId(randomInt) };
    const begun = await plane.snapshots.create(place, { memory: true, ...input });
    rows.push(await plane.snapshots.awaitSaved(begun, 15_000, never));
  }
  const open = (row: SnapshotRow, signal = never) => plane.engine.openedSnapshots.use(row, openMs, signal);
  const others = () => [...host.vms.values()].filter((vm) => vm.agentId !== agentId);
  return { host, plane, agentId, rows, open, others };
}

const again = async (row: SnapshotRow): Promise<SnapshotRow> =>
  (await world.store.database.repeatable((db) => findSnapshot(db, world.accountId, row.id)))!;

const end = async (plane: Plane): Promise<void> => plane.end();

test('requests to one snapshot share one machine, which is still, has no network, and is gone once unused', async () => {
  const { host, plane, rows, open, others } = await start(1, { openedBounds: { idleMs: 200 } });
  const [first, second] = await Promise.all([open(rows[0]!), open(rows[0]!)]);
  assert.equal(first.guest.address, second.guest.address);
  const [vm, ...more] = others();
  assert.equal(more.length, 0);
  assert.deepEqual([vm?.still, vm?.egress], [true, { mode: 'none', allow: [] }]);
  assert.equal(host.guestAt(first.guest.address)!.guest.files.get('workspace/note'), 'plum');
  first.release();
  first.release();
  await sleep(400);
  assert.equal(others().length, 1, 'somebody uses it');
  second.release();
  const third = await open(rows[0]!);
  assert.equal(third.guest.address, second.guest.address, 'it is used again within its time');
  third.release();
  await until('it is gone', async () => others().length === 0);
  assert.ok(host.saved.has(rows[0]!.id), 'the snapshot stays');
  await end(plane);
});

test('an unused machine makes way for another snapshot; where all are used, a newcomer waits and is refused in the end', async () => {
  const { plane, rows, open, others } = await start(3, { openedBounds: { perAccount: 2, placeMs: 400 } });
  const [a, b] = [await open(rows[0]!), await open(rows[1]!)];
  await assert.rejects(open(rows[2]!), { code: 'insufficient_capacity', retryAfterSeconds: 10 });
  assert.equal(others().length, 2);
  const waiting = open(rows[2]!);
  await sleep(50);
  a.release();
  const c = await waiting;
  assert.equal(others().length, 2);
  b.release();
  c.release();
  await end(plane);
});

test('the collector of leftovers spares what is open, and removes what a kill left', async () => {
  const { host, plane, rows, open, others, agentId } = await start(1);
  await open(rows[0]!);
  const { id } = await running(world, plane);
  await plane.agents.act(world.accountId, id, 'stop');
  await plane.agents.awaitVerb(world.accountId, id, 'stop', 15_000, never);
  const seen = () => [...host.vms.keys()].filter((vm) => vm !== agentId && vm !== id);
  assert.equal(seen().length, 1);
  plane.kill();
  assert.equal(others().length, 1, 'a kill leaves it');
  const next = await startPlane(world, host);
  await until('the leftover is gone', async () => seen().length === 0);
  assert.notEqual(host.restOf(id), null, 'a stopped agent stays');
  const use = await next.engine.openedSnapshots.use(await again(rows[0]!), openMs, never);
  assert.equal(seen().length, 1);
  use.release();
  await next.engine.openedSnapshots.stop();
  assert.equal(seen().length, 0, 'a stop ends it');
  await next.end();
});

test('one without memory, or whose memory does not load here, is opened from its disk', async () => {
  const { host, plane, rows, open } = await start(1, {}, { memory: false });
  const use = await open(rows[0]!);
  const vm = host.guestAt(use.guest.address)!;
  assert.deepEqual([vm.still, vm.guest.files.get('workspace/note')], [true, 'plum']);
  use.release();
  await end(plane);
  const foreign = await start(1);
  foreign.host.isForeign = true;
  const from = await foreign.open(foreign.rows[0]!);
  assert.equal(foreign.host.guestAt(from.guest.address)!.guest.memory.has('suspended'), false);
  from.release();
  await end(foreign.plane);
});

test('one that is damaged or gone is refused and marked; one that fails, or for which there is no room, may be tried again', async () => {
  const { host, plane, rows, open, others } = await start(2);
  host.behaviour = failAt('start', 'failed', 1);
  await assert.rejects(open(rows[0]!), { code: 'agent_unavailable' });
  await until('nothing of it is left', async () => others().length === 0);
  (await open(rows[0]!)).release();
  const enough = host.memory;
  host.memory = { totalMib: 1024, availableMib: 100 };
  await assert.rejects(open(rows[1]!), { code: 'insufficient_capacity' });
  host.memory = enough;
  host.saved.get(rows[1]!.id)!.damaged = 'a bit is another one';
  await assert.rejects(open(rows[1]!), { code: 'snapshot_damaged' });
  assert.equal((await again(rows[1]!)).status, 'damaged');
  await assert.rejects(open(await again(rows[1]!)), { code: 'snapshot_damaged' });
  await end(plane);
});

test('a caller that goes away waits for nothing; one that waits too long may come again, and the machine comes up meanwhile', async () => {
  const { host, plane, rows, open } = await start(1);
  host.behaviour = hangAt('load');
  const gone = new AbortController();
  const waiting = open(rows[0]!, gone.signal);
  await sleep(50);
  gone.abort(new Error('gone'));
  await assert.rejects(waiting, /gone/);
  await assert.rejects(plane.engine.openedSnapshots.use(rows[0]!, 50, never), { code: 'snapshot_not_ready' });
  await plane.engine.openedSnapshots.stop();
  host.behaviour = () => Promise.resolve();
  await end(plane);
});

test('a snapshot of another host is asked for there; the end of its machine ends its use', async () => {
  const { host, plane, rows, open, others } = await start(1);
  await assert.rejects(open({ ...rows[0]!, host: 'elsewhere' }), { code: 'agent_unavailable' });
  await open(rows[0]!);
  host.kill(others()[0]!.agentId);
  await until('it is removed', async () => others().length === 0);
  const next = await open(rows[0]!);
  assert.equal(host.guestAt(next.guest.address)!.guest.files.get('workspace/note'), 'plum');
  next.release();
  await end(plane);
});

test('lists and differences open no machine where a listing was saved; without one the snapshot is opened and let go', async () => {
  const { host, plane, rows, others, agentId } = await start(2, { openedBounds: { idleMs: 50 } });
  const { accountId } = world;
  const files = createSnapshotFiles({ database: world.store.database, opened: plane.engine.openedSnapshots, openMs });
  const walked: string[] = [];
  const walk = async ({ address }: { readonly address: string }) => {
    walked.push(address);
    const file = { path: 'walked', type: 'file', size: 1, modifiedMs: 1 } as const;
    return { files: new Map([['walked', file]]), isCut: false };
  };
  const list = (id: string) => files.list({ accountId, id }, { folder: '', after: '', limit: 10 }, walk, never);
  const [first, second] = rows.map(({ id }) => id) as [string, string];
  assert.deepEqual(
    (await list(first)).entries.map(({ path }) => path),
    ['note'],
  );
  assert.deepEqual((await files.diff({ accountId, id: first, to: second }, walk, never)).changes, []);
  assert.deepEqual((await files.diffTo({ accountId, id: first, present: 'f 9 0 note\0' }, walk, never)).changes, [
    { path: 'note', change: 'changed', size: 9 },
  ]);
  assert.deepEqual([walked, others()], [[], []]);
  host.saved.set(second, { ...host.saved.get(second)!, listing: null });
  const { changes } = await files.diff({ accountId, id: first, to: second }, walk, never);
  assert.deepEqual(
    changes.map(({ path, change }) => [path, change]),
    [
      ['note', 'removed'],
      ['walked', 'added'],
    ],
  );
  assert.equal(walked.length, 1);
  await until('it is let go', async () => others().length === 0);
  await assert.rejects(files.diff({ accountId, id: first, to: 'aaaaaaaaaaaa' }, walk, never), {
    code: 'snapshot_not_found',
  });
  const stranger = { accountId: 'nobody', id: first };
  await assert.rejects(files.open(stranger.accountId, first, never), { code: 'snapshot_not_found' });
  assert.equal(await files.agentOf(accountId, first), agentId);
  await end(plane);
});
