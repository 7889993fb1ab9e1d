/** Forks on a real database and the fake host: what they begin from, and what a kill, a failure or a refusal leaves. */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { makeAgentId } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import { execute } from '@lodge/testkit/postgres';
import { failAt, FakeHost } from '@lodge/vm/fake';
import { input, never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane, PlaneOptions } from '../../../../testkit/src/plane/plane.ts';
import type { ForkInput } from '../../agents/agents.ts';

const secrets = createSecretBox(randomBytes(32));
const room = { memory: { reservedMib: 0, overcommit: 1_000 }, maxRunningPerAccount: 1_000 };
const dayMs = 86_400_000;

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const sql = <Row extends object>(text: string) => execute<Row>(world.database.connectionString, text);
const newId = () => makeAgentId(randomInt);
const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;
const agents = async () => (await world.store.agents.all()).map(({ id }) => id).sort();
const rowsOf = (agentId: string) =>
  sql<{ kind: string; status: string; left: number }>(`select kind, status,
    extract(epoch from expires_at - clock_timestamp())::int as left from snapshots where agent_id = '${agentId}'`);

/** A plane with a running agent that has a word in its memory and on its disk, and logins in its browser. */
async function start(options: PlaneOptions = {}) {
  const host = new FakeHost();
  const plane = await startPlane(world, host, { secrets, ...room, ...options });
  const row = await running(world, plane);
  const { guest } = host.guestAt(row.vmAddress!)!;
  for (const there of [guest.memory, guest.files]) {
    there.set('word', 'plum');
    there.set('browser', 'logins');
  }
  return { host, plane, id: row.id };
}

function fork(plane: Plane, agentId: string, given: Partial<ForkInput> = {}, firstId = newId()) {
  const asked = { count: 1, include: [], llmKeys: 'copy', change: {}, ...given } as const;
  return plane.forks.make({ accountId: world.accountId, agentId, firstId }, asked, { signal: never });
}

const settled = (plane: Plane, rows: readonly AgentRow[]) =>
  Promise.all(rows.map(async ({ id }) => (await plane.agents.awaitStatus(world.accountId, id, 30_000, never))!));

const guestOf = (host: FakeHost, row: AgentRow) => host.guestAt(row.vmAddress!)!.guest;

async function act(plane: Plane, id: string, verb: 'pause' | 'stop' | 'restart'): Promise<void> {
  await plane.agents.act(world.accountId, id, verb);
  await plane.agents.awaitVerb(world.accountId, id, verb, 15_000, never);
}

test('20 forks of a running agent have its memory and files, without its logins; it goes on', async () => {
  const { host, plane, id } = await start();
  const made = await fork(plane, id, { count: 20 });
  const rows = await settled(plane, made);
  assert.deepEqual([...new Set(rows.map(({ status }) => status))], ['running']);
  assert.equal(new Set(rows.flatMap(({ executionId, vmAddress, name }) => [executionId, vmAddress, name])).size, 60);
  for (const row of rows) {
    const { memory, files } = guestOf(host, row);
    assert.deepEqual([memory.get('word'), files.get('word')], ['plum', 'plum']);
    assert.deepEqual([memory.has('browser'), files.has('browser'), memory.has('suspended')], [false, false, false]);
    assert.deepEqual([row.nextFrom, row.acknowledged], [null, true]);
  }
  const parent = await find(id);
  assert.deepEqual([parent.status, parent.operation], ['running', null]);
  assert.deepEqual([...guestOf(host, parent).memory.keys()].includes('browser'), true);
  const [snapshot, ...others] = await rowsOf(id);
  assert.deepEqual([snapshot!.kind, snapshot!.status, others], ['fork', 'ready', []]);
  assert.ok(Math.abs(snapshot!.left * 1_000 - 7 * dayMs) < dayMs / 24);
  await plane.end();
});

test('paused and stopped agents are forked as they are, and stay so; an included browser keeps its logins', async () => {
  const { host, plane, id } = await start();
  await act(plane, id, 'pause');
  const [first] = await settled(plane, await fork(plane, id, { include: ['browser'] }));
  assert.deepEqual([first!.status, guestOf(host, first!).memory.get('browser')], ['running', 'logins']);
  assert.equal((await find(id)).status, 'paused');
  await act(plane, id, 'stop');
  const [second] = await settled(plane, await fork(plane, id));
  assert.deepEqual([second!.status, guestOf(host, second!).memory.get('word')], ['running', 'plum']);
  assert.equal((await find(id)).status, 'stopped');
  await plane.end();
});

test('a fork begins from a snapshot that is named, of which no other save is made, and from its disk where it has no more', async () => {
  const { host, plane, id } = await start();
  const place = { accountId: world.accountId, agentId: id, snapshotId: newId() };
  const saved = await plane.snapshots.create(place, { memory: false });
  await plane.snapshots.awaitSaved(saved, 15_000, never);
  guestOf(host, await find(id)).files.set('word', 'pear');
  const [row] = await settled(plane, await fork(plane, id, { snapshot: saved.id }));
  assert.deepEqual([row!.status, guestOf(host, row!).files.get('word')], ['running', 'plum']);
  assert.equal((await rowsOf(id)).length, 1);
  const { id: newer } = await plane.agents.create(world.accountId, { ...input, from: { snapshot: saved.id } });
  const [published] = await settled(plane, [await find(newer)]);
  assert.deepEqual([published!.status, guestOf(host, published!).files.get('word')], ['running', 'plum']);
  assert.equal(guestOf(host, published!).files.has('browser'), false);
  await plane.end();
});

test('a fork that is refused leaves nothing behind: a turn that does not end, a save that fails', async () => {
  const { host, plane, id } = await start({ bounds: { saveQuiesceMs: 300 } });
  const before = await agents();
  const firstId = newId();
  const refused = async (code: string): Promise<void> => {
    await assert.rejects(fork(plane, id, { count: 2 }, firstId), { code });
    assert.deepEqual(await rowsOf(id), []);
    assert.deepEqual(await agents(), before);
  };
  plane.troubles.busy = true;
  await refused('agent_busy');
  plane.troubles.busy = false;
  host.behaviour = failAt('keep', 'disk_full', 1);
  await refused('insufficient_capacity');
  const rows = await settled(plane, await fork(plane, id, { count: 2 }, firstId));
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['running', 'running'],
  );
  await plane.end();
});

test('room that somebody else takes while the parent is being saved is missed, and the save is given up', async () => {
  const { host, plane, id } = await start({ maxAgentsPerAccount: (await agents()).length + 2 });
  let taken: string | null = null;
  host.behaviour = async (at) => {
    if (at !== 'keep') return;
    host.behaviour = () => Promise.resolve();
    taken = (await plane.agents.create(world.accountId, input)).id;
  };
  await assert.rejects(fork(plane, id), { code: 'quota_exceeded' });
  assert.deepEqual(await rowsOf(id), []);
  assert.deepEqual(await agents(), [id, taken!].sort());
  await plane.end();
});

test('an agent in error is forked from a snapshot alone; a fork that fails is in error beside the others', async () => {
  const { host, plane, id } = await start();
  const [row] = await settled(plane, await fork(plane, id));
  const snapshot = row!.forkedFrom!.snapshot_id;
  host.behaviour = failAt('daemon');
  await plane.agents.act(world.accountId, id, 'restart');
  await until('it is in error', async () => (await find(id)).status === 'error');
  host.behaviour = () => Promise.resolve();
  await assert.rejects(fork(plane, id), { code: 'agent_not_running', message: /name a snapshot/ });
  let failing: string | null = null;
  host.behaviour = async (at, { agentId }) => {
    if (at === 'daemon' && agentId === (failing ??= agentId)) throw new Error('told to fail');
  };
  const rows = await settled(plane, await fork(plane, id, { count: 3, snapshot }));
  host.behaviour = () => Promise.resolve();
  assert.deepEqual(rows.map(({ status }) => status).sort(), ['error', 'running', 'running']);
  await plane.end();
});

for (const step of ['still', 'keep', 'share', 'load', 'daemon'] as const) {
  test(`a control plane killed at ${step} of a fork is followed by one in which a second attempt ends it, once`, async () => {
    const { host, plane: killed, id } = await start();
    const reached = Promise.withResolvers<void>();
    const stuck = (): Promise<void> => (reached.resolve(), new Promise(() => undefined));
    host.behaviour = (at) => (at === step ? stuck() : Promise.resolve());
    const firstId = newId();
    fork(killed, id, { count: 3 }, firstId).catch(() => undefined);
    await reached.promise;
    killed.kill();
    host.behaviour = () => Promise.resolve();
    const plane = await startPlane(world, host, { secrets, ...room });
    const place = { accountId: world.accountId, agentId: id, firstId };
    const isMade = (await plane.forks.made(place, 3)).length > 0;
    const rows = isMade ? await plane.forks.made(place, 3) : await fork(plane, id, { count: 3 }, firstId);
    const all = await settled(plane, rows);
    assert.deepEqual(
      all.map(({ status }) => status),
      ['running', 'running', 'running'],
    );
    for (const row of all) assert.equal(guestOf(host, row).memory.get('word'), 'plum');
    assert.equal((await rowsOf(id)).length, 1);
    assert.equal((await find(id)).status, 'running');
    await plane.end();
  });
}
