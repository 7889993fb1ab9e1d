/** Restores on a real database and the fake host: where the agent is afterwards, and what a kill or a failure leaves. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { makeAgentId, maxSnapshots } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import type { SnapshotRow } from '@lodge/store/snapshots';
import { execute } from '@lodge/testkit/postgres';
import { failAt, FakeHost } from '@lodge/vm/fake';
import type { FakeStep } from '@lodge/vm/fake';
import { FakeGateway } from '../../../testkit/src/plane/fake-gateway.ts';
import { never, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane, PlaneOptions } from '../../../testkit/src/plane/plane.ts';
import { message } from '../turns/run-turn.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const sql = <Row extends object>(text: string) => execute<Row>(world.database.connectionString, text);
const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;
const newId = () => makeAgentId(randomInt);

async function act(plane: Plane, id: string, verb: 'pause' | 'stop' | 'start' | 'restart' | 'upgrade') {
  await plane.agents.act(world.accountId, id, verb);
  return plane.agents.awaitVerb(world.accountId, id, verb, 15_000, never);
}

const words = ({ guest }: { readonly guest: { memory: Map<string, string>; files: Map<string, string> } }) => ({
  say: (word: string) => [guest.memory, guest.files].forEach((part) => part.set('word', word)),
});

async function saved(plane: Plane, agentId: string, memory = true): Promise<SnapshotRow> {
  const begun = await plane.snapshots.create({ accountId: world.accountId, agentId, snapshotId: newId() }, { memory });
  return plane.snapshots.awaitSaved(begun, 15_000, never);
}

/** A running agent that says `plum`, and has a snapshot from when it said `pear`. */
async function start(options: PlaneOptions = {}, memory = true) {
  const host = new FakeHost();
  const plane = await startPlane(world, host, options);
  const { id, vmAddress } = await running(world, plane);
  const vm = host.guestAt(vmAddress!)!;
  words(vm).say('pear');
  const snapshot = await saved(plane, id, memory);
  words(vm).say('plum');
  return { host, plane, id, snapshot: snapshot.id };
}

interface Asked {
  readonly savePresent?: boolean;
  readonly memory?: boolean;
}

async function begin(
  plane: Plane,
  agentId: string,
  snapshot: string,
  { savePresent = true, memory = true }: Asked = {},
) {
  const place = { accountId: world.accountId, agentId, snapshotId: newId() };
  await plane.snapshots.restore(place, { snapshot, savePresent, memory });
  return place;
}

async function restored(plane: Plane, agentId: string, snapshot: string, asked: Asked = {}): Promise<AgentRow> {
  return plane.snapshots.awaitRestored(await begin(plane, agentId, snapshot, asked), 15_000, never);
}

const wordOf = (host: FakeHost, { vmAddress }: AgentRow) => host.guestAt(vmAddress!)?.guest.memory.get('word');
const eventsOf = (id: string) =>
  sql<{ type: string; data: Record<string, unknown> }>(
    `select type, data from events where agent_id = '${id}' order by id`,
  );
const presentOf = async (plane: Plane, agentId: string): Promise<SnapshotRow | undefined> => {
  const [row] = await plane.snapshots.ofAgent(world.accountId, agentId, { limit: 1, kind: 'before_restore' });
  return row;
};

function assertEnded(row: AgentRow, status: AgentRow['status']): void {
  const { operation, restoreTo, restoreMemory, restoreBack } = row;
  assert.deepEqual([row.status, operation, restoreTo, restoreMemory, restoreBack], [status, null, null, false, null]);
}

test('a running agent is its snapshot again, its present is kept and can be gone back to', async () => {
  const { host, plane, id, snapshot } = await start();
  const row = await restored(plane, id, snapshot);
  assertEnded(row, 'running');
  assert.equal(wordOf(host, row), 'pear');
  assert.match(row.turnNote!, /set back to how it was at \d{4}-/);
  const present = await presentOf(plane, id);
  assert.deepEqual(
    [present?.status, present?.memory, host.saved.get(present!.id)?.memory?.get('word')],
    ['ready', true, 'plum'],
  );
  assert.ok(present!.expiresAt! > new Date());
  const done = (await eventsOf(id)).findLast(({ type }) => type === 'agent.restored');
  assert.deepEqual([done?.data['snapshot_id'], done?.data['loaded']], [snapshot, 'memory']);
  const again = await restored(plane, id, present!.id);
  assert.equal(wordOf(host, again), 'plum');
  await plane.end();
});

test('a paused agent and one in error end running; without memory or by wish the disk is booted', async () => {
  const { host, plane, id, snapshot } = await start();
  await act(plane, id, 'pause');
  const row = await restored(plane, id, snapshot, { memory: false });
  assertEnded(row, 'running');
  assert.deepEqual([wordOf(host, row), row.pausedAt], ['pear', null]);
  assert.equal((await eventsOf(id)).findLast(({ type }) => type === 'agent.restored')?.data['loaded'], 'disk');
  assert.equal(host.saved.get((await presentOf(plane, id))!.id)?.memory?.get('word'), 'plum');
  host.behaviour = failAt('daemon');
  await plane.agents.act(world.accountId, id, 'restart');
  await until('it is in error', async () => (await find(id)).status === 'error');
  host.behaviour = () => Promise.resolve();
  const mended = await restored(plane, id, snapshot);
  assertEnded(mended, 'running');
  assert.equal((await presentOf(plane, id))?.memory, false, 'an agent in error has no more than its disk');
  await plane.end();
});

test('a stopped agent stays stopped and starts from it; a second restore keeps what the first one named', async () => {
  const { host, plane, id, snapshot } = await start();
  const other = await saved(plane, id);
  await act(plane, id, 'stop');
  const row = await restored(plane, id, snapshot);
  assertEnded(row, 'stopped');
  assert.deepEqual([row.nextFrom, row.nextMemory], [snapshot, true]);
  assert.equal(host.saved.get((await presentOf(plane, id))!.id)?.memory?.get('word'), 'plum');
  await restored(plane, id, other.id);
  const present = await presentOf(plane, id);
  assert.equal(host.saved.get(present!.id)?.memory?.get('word'), 'pear', 'its next start was from there');
  await restored(plane, id, present!.id, { savePresent: false });
  assert.equal(wordOf(host, await act(plane, id, 'start')), 'pear');
  await plane.end();
});

test('settings and turns stay as they are; settings are applied again', async () => {
  const { host, plane, id, snapshot } = await start();
  await plane.agents.update(world.accountId, id, { instructions: 'Be brief.' });
  await sql(`update agents set turns = 7 where id = '${id}'`);
  const row = await restored(plane, id, snapshot);
  assert.deepEqual([row.instructions, row.turns], ['Be brief.', 7]);
  assert.equal(host.guestAt(row.vmAddress!)?.guest.memory.get('instructions'), 'Be brief.');
  await plane.end();
});

test('settings that the snapshot has in effect are not applied again, with its memory', async () => {
  const { plane, id, snapshot } = await start();
  await plane.agents.update(world.accountId, id, { instructions: 'Be brief.' });
  await until(
    'the settings are applied',
    async () => (await find(id)).settingsApplied !== null && plane.calls.includes('apply'),
  );
  const brief = await saved(plane, id);
  const applied = async (to: string, memory: boolean): Promise<number> => {
    const before = plane.calls.filter((call) => call === 'apply').length;
    await restored(plane, id, to, { savePresent: false, memory });
    return plane.calls.filter((call) => call === 'apply').length - before;
  };
  assert.equal(await applied(brief.id, true), 0);
  assert.equal(await applied(brief.id, false), 1, 'the last writes may not have reached a disk');
  assert.equal(await applied(snapshot, true), 1);
  await plane.end();
});

test('before_last_turn is the newest snapshot that was saved before the last turn began', async () => {
  const { host, plane, id, snapshot } = await start();
  await assert.rejects(begin(plane, id, 'before_last_turn'), { code: 'snapshot_not_found', message: /last turn/ });
  const turn = async () => {
    const live = await plane.agents.use(world.accountId, id, {
      wake: false,
      message: true,
      timeoutMs: 9_000,
      signal: never,
    });
    live.release();
  };
  await turn();
  const row = await find(id);
  words(host.guestAt(row.vmAddress!)!).say('fig');
  await saved(plane, id);
  const back = await restored(plane, id, 'before_last_turn');
  assert.equal(wordOf(host, back), 'pear');
  assert.equal((await eventsOf(id)).findLast(({ type }) => type === 'agent.restored')?.data['snapshot_id'], snapshot);
  await turn();
  const again = await restored(plane, id, 'before_last_turn');
  assert.equal(wordOf(host, again), 'fig', 'the present of the first restore was saved before that turn');
  await plane.end();
});

test('the next turn alone begins with the line', async () => {
  const gateway = new FakeGateway();
  const { plane, id, snapshot } = await start({ gateway });
  const row = await restored(plane, id, snapshot);
  const say = async () => {
    const asked = { agentId: id, accountId: world.accountId, member: null, conversation: null, origin: 'api' } as const;
    const bounds = { wake: false, wakeTimeoutMs: 9_000, timeoutMs: 9_000, signal: never };
    return (await plane.engine.runTurn({ ...asked, said: message('ping'), ...bounds })).text();
  };
  gateway.steps = [{ text: 'pong' }];
  await say();
  await say();
  const contents = gateway.turns.map(({ body }) => (body['messages'] as { content: string }[])[0]!.content);
  assert.deepEqual(contents, [`[Lodge: ${row.turnNote}]\n\nping`, 'ping']);
  await plane.end();
});

test('what cannot be gone back to is refused, and nothing is left behind', async () => {
  const { host, plane, id, snapshot } = await start();
  const other = await running(world, plane);
  await assert.rejects(begin(plane, other.id, snapshot), { code: 'snapshot_not_found' });
  await assert.rejects(begin(plane, id, newId()), { code: 'snapshot_not_found' });
  await assert.rejects(begin(plane, newId(), snapshot), { code: 'agent_not_found' });
  await assert.rejects(
    plane.snapshots.restore(
      { accountId: 'another', agentId: id, snapshotId: newId() },
      { snapshot, savePresent: true, memory: true },
    ),
    { code: 'agent_not_found' },
  );
  for (const [status, code] of [
    ['failed', 'snapshot_not_ready'],
    ['damaged', 'snapshot_damaged'],
  ] as const) {
    await sql(`update snapshots set status = '${status}', error = 'so' where id = '${snapshot}'`);
    await assert.rejects(begin(plane, id, snapshot), { code });
  }
  await sql(`update snapshots set status = 'ready', error = null where id = '${snapshot}'`);
  for (let n = 1; n < maxSnapshots; n += 1) {
    await sql(
      `insert into snapshots (id, account_id, agent_id, kind, status, memory, runtime_kind, size, turns)
       values ('${newId()}', '${world.accountId}', '${id}', 'named', 'ready', false, 'runtime_a', 'small', 0)`,
    );
  }
  await assert.rejects(begin(plane, id, snapshot), { code: 'quota_exceeded' });
  await sql(`delete from snapshots where agent_id = '${id}' and id <> '${snapshot}'`);
  const go = Promise.withResolvers<void>();
  host.behaviour = (at) => (at === 'keep' ? go.promise : Promise.resolve());
  const begun = await begin(plane, id, snapshot);
  await assert.rejects(begin(plane, id, snapshot), { code: 'agent_transitioning' });
  await assert.rejects(plane.agents.act(world.accountId, id, 'stop'), { code: 'agent_transitioning' });
  go.resolve();
  await plane.snapshots.awaitRestored(begun, 15_000, never);
  await plane.end();
});

test('a present that is not saved leaves the agent as it was: at work, or without room', async () => {
  const { host, plane, id, snapshot } = await start();
  plane.troubles.busy = true;
  await assert.rejects(restored(plane, id, snapshot), { code: 'agent_busy' });
  host.behaviour = failAt('keep', 'disk_full', 1);
  await assert.rejects(restored(plane, id, snapshot), { code: 'insufficient_capacity' });
  const row = await find(id);
  assertEnded(row, 'running');
  assert.deepEqual([wordOf(host, row), row.nextFrom, row.turnNote], ['plum', null, null]);
  assert.equal((await restored(plane, id, snapshot, { savePresent: false })).status, 'running');
  await plane.end();
});

test('a snapshot whose machine is gone or damaged leaves the agent as it was, and is marked', async () => {
  const { host, plane, id, snapshot } = await start();
  const other = await saved(plane, id);
  host.saved.delete(snapshot);
  await assert.rejects(restored(plane, id, snapshot), { code: 'internal_error', message: /is as it was/ });
  const row = await find(id);
  assertEnded(row, 'running');
  assert.equal(wordOf(host, row), 'plum');
  assert.equal((await plane.snapshots.get(world.accountId, snapshot)).status, 'damaged');
  host.saved.get(other.id)!.damaged = 'a bit flipped';
  await assert.rejects(restored(plane, id, other.id), { code: 'internal_error', message: /is as it was/ });
  const back = await find(id);
  assertEnded(back, 'running');
  assert.deepEqual([wordOf(host, back), back.statusReason?.code, back.turnNote], ['plum', 'restore_failed', null]);
  assert.equal((await plane.snapshots.get(world.accountId, other.id)).status, 'damaged');
  await plane.end();
});

test('memory that does not load leaves its disk; when that does not start either, the present comes back', async () => {
  const { host, plane, id, snapshot } = await start();
  host.isForeign = true;
  const row = await restored(plane, id, snapshot);
  assert.equal(wordOf(host, row), 'pear');
  host.isForeign = false;
  words(host.guestAt(row.vmAddress!)!).say('plum');
  let fails = true;
  host.behaviour = (at) =>
    fails && (at === 'load' || at === 'disk') ? Promise.reject(new Error('no')) : Promise.resolve();
  const begun = await begin(plane, id, snapshot);
  await until('the present is named again', async () => {
    const { operation, nextFrom } = await find(id);
    return operation === null && nextFrom !== null && nextFrom !== snapshot;
  });
  fails = false;
  await assert.rejects(plane.snapshots.awaitRestored(begun, 15_000, never), { code: 'internal_error' });
  await until('it runs or rests', async () => ['running', 'error'].includes((await find(id)).status));
  if ((await find(id)).status === 'error') await act(plane, id, 'start');
  assert.equal(wordOf(host, await find(id)), 'plum');
  await plane.end();
});

test('a VM that died while its present was being saved is gone back from with its disk', async () => {
  const { host, plane, id, snapshot } = await start();
  const reached = Promise.withResolvers<void>();
  const died = Promise.withResolvers<void>();
  host.behaviour = (at) => (at === 'keep' ? (reached.resolve(), died.promise) : Promise.resolve());
  const begun = await begin(plane, id, snapshot);
  await reached.promise;
  host.behaviour = () => Promise.resolve();
  host.kill(id);
  died.reject(new Error('it ended'));
  const row = await plane.snapshots.awaitRestored(begun, 15_000, never);
  assertEnded(row, 'running');
  assert.equal(wordOf(host, row), 'pear');
  const present = await plane.snapshots.get(world.accountId, begun.snapshotId);
  assert.deepEqual(
    [present.status, present.loads, host.saved.get(present.id)?.files.get('word')],
    ['ready', 'disk', 'plum'],
  );
  await plane.end();
});

const steps: readonly FakeStep[] = ['still', 'keep', 'check', 'start', 'load', 'daemon', 'machine'];
for (const step of steps) {
  test(`a control plane killed at ${step} of a restore is followed by one that ends it`, async () => {
    const { host, plane: killed, id, snapshot } = await start();
    const reached = Promise.withResolvers<void>();
    host.behaviour = (at) => (at === step ? (reached.resolve(), new Promise(() => undefined)) : Promise.resolve());
    const begun = await begin(killed, id, snapshot);
    await reached.promise;
    killed.kill();
    host.behaviour = () => Promise.resolve();
    const plane = await startPlane(world, host, { snapshotsEveryMs: 50 });
    const row = await plane.snapshots.awaitRestored(begun, 15_000, never);
    assertEnded(row, 'running');
    assert.equal(wordOf(host, row), 'pear');
    assert.equal(host.vms.size, 1);
    assert.deepEqual([...host.saved.keys()].toSorted(), [snapshot, begun.snapshotId].toSorted());
    assert.equal(host.saved.get(begun.snapshotId)?.memory?.get('word'), 'plum');
    await plane.end();
  });
}

test('an upgrade keeps the agent of before it, and is undone with the runtime of then', async () => {
  const host = new FakeHost();
  const first = await startPlane(world, host, { release: 'old' });
  const { id, vmAddress } = await running(world, first);
  words(host.guestAt(vmAddress!)!).say('plum');
  host.guestAt(vmAddress!)!.guest.memory.set('thought', 'half');
  first.kill();
  const plane = await startPlane(world, host, { release: 'new' });
  await until('the newer template is there', async () => plane.agents.canUpgrade(await find(id)));
  const moved = await act(plane, id, 'upgrade');
  assert.deepEqual(plane.agents.runtimeOf(moved), { name: 'fake', version: 'new' });
  const [kept] = await plane.snapshots.ofAgent(world.accountId, id, { limit: 9, kind: 'before_upgrade' });
  assert.deepEqual([kept?.status, kept?.memory, kept?.runtimeVersion], ['ready', true, 'old']);
  const row = await restored(plane, id, kept!.id);
  assertEnded(row, 'running');
  assert.deepEqual(plane.agents.runtimeOf(row), { name: 'fake', version: 'old' });
  assert.equal(host.guestAt(row.vmAddress!)?.guest.memory.get('thought'), 'half');
  assert.equal(plane.agents.canUpgrade(row), true);
  host.behaviour = failAt('copy', 'disk_full', 1);
  await act(plane, id, 'upgrade');
  const rows = await plane.snapshots.ofAgent(world.accountId, id, { limit: 9, kind: 'before_upgrade' });
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['failed', 'ready'],
    'an upgrade goes on without room for it',
  );
  await plane.end();
});
