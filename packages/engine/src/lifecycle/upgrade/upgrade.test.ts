/**
 * Upgrades on a real database and the fake host: whatever fails or is killed on the way, there is one agent, with its files.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { restOf } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import { failAt, fakeUpgradeSteps, FakeHost, fakeSteps, hangAt } from '@lodge/vm/fake';
import type { FakeStep } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';
import { logPage } from '@lodge/store/logs';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;

async function upgrade(plane: Plane, id: string): Promise<AgentRow> {
  await plane.agents.act(world.accountId, id, 'upgrade');
  return plane.agents.awaitVerb(world.accountId, id, 'upgrade', 15_000, never);
}

/** An agent of the older release, with a word in a file and another in memory, and a control plane of the newer one. */
async function older(host: FakeHost, changes: Parameters<typeof startPlane>[2] = {}) {
  const first = await startPlane(world, host, { release: 'old' });
  const row = await running(world, first);
  const { guest } = host.guestAt(row.vmAddress!)!;
  guest.files.set('word', 'plum');
  guest.memory.set('word', 'plum');
  guest.memory.set('thought', 'half');
  first.kill();
  const plane = await startPlane(world, host, { release: 'new', ...changes });
  await until('the newer template is there', async () => plane.agents.canUpgrade(await find(row.id)));
  return { row, plane };
}

/** How many machines are at rest. */
const restsOf = (host: FakeHost): number =>
  [...host.saved.values()].filter(({ id, agentId }) => id === restOf(agentId)).length;

/** Asserts that the agent runs, once, and remembers its words. */
function assertWhole(host: FakeHost, row: AgentRow): void {
  assert.deepEqual([row.status, row.operation], ['running', null]);
  assert.deepEqual([host.vms.get(row.id)?.executionId, host.vms.get(row.id)?.alive], [row.executionId, true]);
  assert.equal(host.guestAt(row.vmAddress!)?.guest.memory.get('word'), 'plum');
}
const thoughtOf = (host: FakeHost, { vmAddress }: AgentRow) => host.guestAt(vmAddress!)?.guest.memory.get('thought');

test('an agent of an older release runs on, says so, and is moved with its files when it is asked', async () => {
  const host = new FakeHost();
  const { row, plane } = await older(host);
  assert.deepEqual(plane.agents.runtimeOf(await find(row.id)), { name: 'fake', version: 'old' });
  assertWhole(host, await find(row.id));
  const moved = await upgrade(plane, row.id);
  assertWhole(host, moved);
  assert.notEqual(moved.templateId, row.templateId);
  assert.deepEqual(plane.agents.runtimeOf(moved), { name: 'fake', version: 'new' });
  assert.equal(plane.agents.canUpgrade(moved), false);
  await until('the old copy is freed', () => restsOf(host) === 0);
  const { done } = await plane.agents.act(world.accountId, row.id, 'upgrade');
  assert.equal(done, true, 'there is nothing to do');
  assert.ok(plane.calls.indexOf('suspend') < plane.calls.indexOf('shutdown'));
  const log = await world.store.database.repeatable((db) =>
    logPage(db, { agentId: row.id, limit: 9, direction: 'desc', source: 'system' }),
  );
  assert.match(log[0]!.message, /^Running on the newest image, fake new/);
  await plane.end();
});

test('a paused agent is moved too; a stopped one is to be started first', async () => {
  const host = new FakeHost();
  const { row, plane } = await older(host);
  await plane.agents.act(world.accountId, row.id, 'stop');
  await plane.agents.awaitVerb(world.accountId, row.id, 'stop', 15_000, never);
  await assert.rejects(plane.agents.act(world.accountId, row.id, 'upgrade'), { code: 'agent_not_running' });
  for (const verb of ['start', 'pause'] as const) {
    await plane.agents.act(world.accountId, row.id, verb);
    await plane.agents.awaitVerb(world.accountId, row.id, verb, 15_000, never);
  }
  assertWhole(host, await upgrade(plane, row.id));
  await plane.end();
});

test('while it is under way nothing else begins, and a delete leaves nothing of either copy', async () => {
  const host = new FakeHost();
  const { row, plane } = await older(host);
  host.behaviour = hangAt('carry');
  await plane.agents.act(world.accountId, row.id, 'upgrade');
  await until('its data is on its way', () => restsOf(host) === 1 && host.vms.get(row.id)?.phase === 'running');
  await assert.rejects(plane.agents.act(world.accountId, row.id, 'stop'), { code: 'agent_transitioning' });
  await assert.rejects(plane.agents.use(world.accountId, row.id, { wake: false, timeoutMs: 1_000, signal: never }), {
    code: 'agent_not_running',
  });
  await plane.agents.delete(world.accountId, row.id, never);
  assert.deepEqual([host.vms.size, restsOf(host)], [0, 0]);
  await plane.end();
});

test('a runtime that does not come up is given up by itself: the agent goes on where it was, and it says why', async () => {
  const host = new FakeHost();
  const { row, plane } = await older(host);
  plane.troubles.failsToStart = true;
  await assert.rejects(upgrade(plane, row.id), { code: 'internal_error', message: /not upgraded.*failed to start/ });
  const back = await find(row.id);
  assertWhole(host, back);
  assert.equal(thoughtOf(host, back), 'half', 'it has its memory');
  assert.deepEqual([back.templateId, back.statusReason?.code], [row.templateId, 'upgrade_failed']);
  assert.equal(restsOf(host), 0);
  assertWhole(host, await upgrade(plane, row.id));
  assert.equal((await find(row.id)).statusReason, null);
  await plane.end();
});

test('so is a gateway that answers and is sick, and one that takes too long', async () => {
  const host = new FakeHost();
  const { row, plane } = await older(host, { bounds: { upgradeMs: 1_500 } });
  plane.troubles.health = { gateway: 'told to be sick' };
  await assert.rejects(upgrade(plane, row.id), { code: 'internal_error' });
  plane.troubles.health = {};
  assert.equal(thoughtOf(host, await find(row.id)), 'half');
  host.behaviour = hangAt('carry');
  await assert.rejects(upgrade(plane, row.id), { code: 'internal_error', message: /in time/ });
  host.behaviour = () => Promise.resolve();
  const back = await find(row.id);
  assertWhole(host, back);
  assert.equal(thoughtOf(host, back), 'half');
  await plane.end();
});

test('a host without room for two disks leaves the agent as it is', async () => {
  const host = new FakeHost();
  const { row, plane } = await older(host);
  host.behaviour = failAt('collect', 'disk_full', 1);
  await assert.rejects(upgrade(plane, row.id), { code: 'internal_error', message: /no room for a second disk/ });
  const same = await find(row.id);
  assertWhole(host, same);
  assert.equal(same.executionId, row.executionId);
  await plane.end();
});

/** All steps of an upgrade on the host, in order, each with how often it was passed before. */
const steps: readonly (readonly [FakeStep, number])[] = [
  ...fakeUpgradeSteps.map((step) => [step, 0] as const),
  ...fakeSteps.map((step) => [step, 0] as const),
  ['carry', 0],
  ...fakeSteps.map((step) => [step, 1] as const),
  ['drop', 0],
];

for (const [step, before] of steps) {
  const when = `${step}${before > 0 ? ' of the boot' : ''}`;

  test(`a control plane killed at ${when} is followed by one that brings the upgrade to its end`, async () => {
    const host = new FakeHost();
    const { row, plane: killed } = await older(host);
    const reached = Promise.withResolvers<void>();
    let seen = 0;
    host.behaviour = (at) => {
      if (at !== step || (seen += 1) <= before) return Promise.resolve();
      reached.resolve();
      return new Promise(() => undefined);
    };
    await killed.agents.act(world.accountId, row.id, 'upgrade');
    await reached.promise;
    killed.kill();
    host.behaviour = () => Promise.resolve();
    const plane = await startPlane(world, host, { release: 'new' });
    const moved = await plane.agents.awaitVerb(world.accountId, row.id, 'upgrade', 15_000, never);
    assertWhole(host, moved);
    assert.notEqual(moved.templateId, row.templateId);
    await until('the old copy is freed', () => restsOf(host) === 0);
    await plane.end();
  });

  test(`a failure at ${when}, and a kill while it is rolled back, end with one whole agent`, async () => {
    const host = new FakeHost();
    const { row, plane: killed } = await older(host);
    let seen = 0;
    let taken = false;
    host.behaviour = async (at) => {
      if (at === step && (seen += 1) === before + 1) throw new Error(`told to fail at ${at}`);
      // Nothing else of an upgrade loads a memory.
      if (at !== 'check' || taken) return;
      taken = true;
      killed.kill();
      await new Promise(() => undefined);
    };
    await killed.agents.act(world.accountId, row.id, 'upgrade');
    const ended = async (): Promise<boolean> => {
      const { operation, status } = await find(row.id);
      return operation === null && status === 'running' && restsOf(host) === 0;
    };
    await until('it fails, or has ended', async () => taken || (await ended()));
    const plane = taken ? await startPlane(world, host, { release: 'new' }) : killed;
    await until('it has ended', ended);
    const end = await find(row.id);
    assertWhole(host, end);
    if (end.templateId === row.templateId) {
      assert.equal(thoughtOf(host, end), 'half');
      const log = await world.store.database.repeatable((db) =>
        logPage(db, { agentId: row.id, limit: 9, direction: 'asc', source: 'system' }),
      );
      assert.equal(end.statusReason?.code, 'upgrade_failed', log.map(({ message }) => message).join('\n'));
    }
    await plane.end();
  });
}
