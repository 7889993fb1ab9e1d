/** Snapshots without a request: automatic ones, retention, expiry, damage, and the remains of a crash. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { defaultSnapshotPlan } from '@lodge/domain';
import type { SnapshotPlan } from '@lodge/domain';
import { execute } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const sql = <Row extends object>(text: string) => execute<Row>(world.database.connectionString, text);

async function start(plan: Partial<SnapshotPlan> = {}) {
  const host = new FakeHost();
  const plane = await startPlane(world, host, { snapshotsEveryMs: 40 });
  const { id } = await running(world, plane, { snapshots: { ...defaultSnapshotPlan, ...plan } });
  return { host, plane, id };
}

/** Makes a turn of the agent. */
async function turn(plane: Plane, id: string): Promise<void> {
  const live = await plane.agents.use(world.accountId, id, {
    wake: true,
    message: true,
    timeoutMs: 15_000,
    signal: never,
  });
  live.release();
}

const list = (plane: Plane, id: string) => plane.snapshots.ofAgent(world.accountId, id, { limit: 100 });
const named = async (plane: Plane, agentId: string, snapshotId: string) =>
  plane.snapshots.awaitSaved(
    await plane.snapshots.create({ accountId: world.accountId, agentId, snapshotId }, { memory: false }),
    15_000,
    never,
  );
const readyOf = async (plane: Plane, id: string) =>
  (await list(plane, id)).filter(({ kind, status }) => kind === 'auto' && status === 'ready');

test('a plan by turns saves the agent once it is quiet, never without a turn since, and keeps the newest', async () => {
  const { host, plane, id } = await start({ every_turns: 1, keep: 2 });
  assert.equal((await list(plane, id)).length, 0, 'it had no turn yet');
  const seen = new Set<string>();
  for (let n = 1; n <= 3; n += 1) {
    await turn(plane, id);
    await until(`turn ${n} is saved`, async () => (await readyOf(plane, id)).some(({ turns }) => turns === n));
    for (const row of await list(plane, id)) seen.add(row.id);
  }
  await until('the oldest is gone', async () => (await list(plane, id)).length === 2);
  await until('its machine too', () => host.saved.size === 2);
  assert.deepEqual(
    (await list(plane, id)).map(({ turns }) => turns),
    [3, 2],
  );
  assert.equal(seen.size, 3, 'one for each turn');
  await plane.end();
});

test('a plan by time waits for its time and for a turn; a pinned one and one that is to be started from stay', async () => {
  const { plane, id } = await start({ every: '1h', keep: 1 });
  await turn(plane, id);
  await sql(`update agents set created_at = created_at - interval '2 hours' where id = '${id}'`);
  await until('it is saved', async () => (await readyOf(plane, id)).length === 1);
  const [first] = await readyOf(plane, id);
  await turn(plane, id);
  await sql(
    `update snapshots set created_at = created_at - interval '2 hours', pinned = true where id = '${first!.id}'`,
  );
  await until('it is saved again', async () => (await readyOf(plane, id)).length === 2);
  await sql(`update agents set next_from = '${first!.id}' where id = '${id}'`);
  await sql(
    `update snapshots set pinned = false, created_at = created_at - interval '60 days' where id = '${first!.id}'`,
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal((await readyOf(plane, id)).length, 2);
  await sql(`update agents set next_from = null where id = '${id}'`);
  await until('its time is over', async () => (await readyOf(plane, id)).length === 1);
  await plane.end();
});

test('what has expired goes, and a failed one after a day', async () => {
  const { host, plane, id } = await start();
  const { id: short } = await named(plane, id, 'aaaaaaaaaaa1');
  const { id: long } = await named(plane, id, 'aaaaaaaaaaa2');
  await plane.snapshots.update(world.accountId, long, { expiresAt: new Date(Date.now() + 3_600_000) });
  await sql(`update snapshots set expires_at = now() - interval '1 second' where id = '${short}'`);
  await until('it is gone', async () => (await list(plane, id)).length === 1);
  await until('its machine too', () => host.saved.size === 1);
  const [last] = await sql<{ data: Record<string, unknown> }>(
    `select data from events where agent_id = '${id}' and type = 'snapshot.deleted'`,
  );
  assert.deepEqual([last?.data['why'], last?.data['snapshot_id']], ['expired', short]);
  await sql(
    `update snapshots set status = 'failed', error = 'x', expires_at = null, created_at = now() - interval '2 days' where id = '${long}'`,
  );
  await until('the failed one is gone', async () => (await list(plane, id)).length === 0);
  await plane.end();
});

test('a row that nothing saves has failed, a machine without a row is freed, a row without a machine is damaged', async () => {
  const host = new FakeHost();
  const first = await startPlane(world, host, { snapshotsEveryMs: 60_000 });
  const { id } = await running(world, first);
  const { id: lost } = await named(first, id, 'bbbbbbbbbbb1');
  const { id: rotten } = await named(first, id, 'bbbbbbbbbbb2');
  const { id: stuck } = await named(first, id, 'bbbbbbbbbbb3');
  first.kill();
  host.saved.set('bbbbbbbbbbb9', { ...host.saved.get(lost)!, id: 'bbbbbbbbbbb9' });
  host.saved.delete(lost);
  host.saved.get(rotten)!.damaged = 'a bit was flipped';
  await sql(`update snapshots set status = 'saving' where id = '${stuck}'`);
  const plane = await startPlane(world, host, { snapshotsEveryMs: 40 });
  const of = async (snapshot: string) => plane.snapshots.get(world.accountId, snapshot);
  await until('all of it is found', async () => {
    const states = await Promise.all([lost, rotten, stuck].map(of));
    return states.map(({ status }) => status).join() === 'damaged,damaged,failed';
  });
  await until('nobody’s machine is freed', () => !host.saved.has('bbbbbbbbbbb9'));
  assert.ok(host.saved.has(rotten), 'a damaged one is kept');
  await plane.end();
});

test('the disk of a snapshot is measured when it is saved, and again by a later process', async () => {
  const host = new FakeHost();
  const first = await startPlane(world, host, { snapshotsEveryMs: 60_000 });
  const { id } = await running(world, first);
  const ids = { accountId: world.accountId, agentId: id, snapshotId: 'ddddddddddd1' };
  const asked = await first.snapshots.create(ids, { memory: true });
  const { heldBytes, bytes, diskBytes } = await first.snapshots.awaitSaved(asked, 15_000, never);
  assert.ok(Number(heldBytes) > 0);
  assert.equal(Number(heldBytes), Number(bytes) + Number(diskBytes), 'nothing else has its files');
  first.kill();
  await sql(`update snapshots set held_bytes = 5 where id = '${ids.snapshotId}'`);
  const plane = await startPlane(world, host, { snapshotsEveryMs: 40 });
  const held = async () => (await plane.snapshots.get(world.accountId, ids.snapshotId)).heldBytes;
  await until('it is measured again', async () => (await held()) === heldBytes);
  await plane.end();
});

test('a plan that is refused for its account’s quota is left alone, and another agent has its turn', async () => {
  const host = new FakeHost();
  const options = { snapshotsEveryMs: 40, snapshots: { accountGib: 1 } };
  const plane = await startPlane(world, host, options);
  const snapshots = { ...defaultSnapshotPlan, every_turns: 1 };
  const { id } = await running(world, plane, { snapshots });
  const { id: full } = await named(plane, id, 'ccccccccccc1');
  await sql(`update snapshots set bytes = ${2 ** 30} where id = '${full}'`);
  await turn(plane, id);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await sql(`update snapshots set bytes = 0 where id = '${full}'`);
  const { id: other } = await running(world, plane, { snapshots });
  await turn(plane, other);
  await until('the other is saved', async () => (await readyOf(plane, other)).length === 1);
  assert.equal((await readyOf(plane, id)).length, 0);
  await plane.end();
});
