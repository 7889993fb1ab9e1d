/**
 * Settings that lie in the guest, on a real database and the fake host: the record's settings come into effect, whatever was
 * killed or failed on the way.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRow } from '@lodge/store/agents';
import { FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';
import { logPage } from '@lodge/store/logs';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const find = async (id: string): Promise<AgentRow> => (await world.store.agents.find(id))!;
const instructionsOf = (host: FakeHost, { vmAddress }: AgentRow) =>
  host.guestAt(vmAddress!)?.guest.memory.get('instructions');
const applies = ({ calls }: Plane): number => calls.filter((call) => call === 'apply').length;

async function tell(plane: Plane, id: string, instructions: string | null): Promise<AgentRow> {
  await plane.agents.update(world.accountId, id, { instructions });
  return plane.agents.awaitInEffect(world.accountId, id, 120_000, never);
}

async function done(
  plane: Plane,
  id: string,
  verb: 'pause' | 'resume' | 'stop' | 'start' | 'restart',
): Promise<AgentRow> {
  await plane.agents.act(world.accountId, id, verb);
  return plane.agents.awaitVerb(world.accountId, id, verb, 120_000, never);
}

test('a plain create applies nothing; one with instructions runs with them', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const plain = await running(world, plane);
  assert.deepEqual([plain.settingsApplied, applies(plane), plane.agents.inEffect(plain)], ['template', 0, true]);
  const instructed = await running(world, plane, { instructions: 'Be brief.' });
  assert.deepEqual(
    [instructionsOf(host, instructed), applies(plane), plane.agents.inEffect(instructed)],
    ['Be brief.', 1, true],
  );
  await plane.end();
});

test('a change reaches a running agent at once, and nothing is applied twice', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  const changed = await tell(plane, id, 'Be brief.');
  assert.deepEqual([instructionsOf(host, changed), plane.agents.inEffect(changed)], ['Be brief.', true]);
  await tell(plane, id, 'Be brief.');
  await plane.agents.update(world.accountId, id, { name: 'B', model: 'p/other' });
  await sleep(200);
  assert.equal(applies(plane), 1);
  assert.equal(instructionsOf(host, await tell(plane, id, null)), '');
  await plane.end();
});

test('a change to an agent that sleeps is in effect when it is awake again', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  for (const [down, up] of [
    ['pause', 'resume'],
    ['stop', 'start'],
  ] as const) {
    await done(plane, id, down);
    const asleep = await tell(plane, id, `told while ${down}d`);
    assert.equal(plane.agents.inEffect(asleep), false);
    const awake = await done(plane, id, up);
    assert.deepEqual([instructionsOf(host, awake), plane.agents.inEffect(awake)], [`told while ${down}d`, true]);
    const times = applies(plane);
    await done(plane, id, down);
    await done(plane, id, up);
    assert.equal(applies(plane), times, 'a snapshot keeps what was applied');
  }
  const times = applies(plane);
  await done(plane, id, 'restart');
  assert.equal(applies(plane), times + 1, 'a disk may lack what was written last');
  await plane.end();
});

test('an agent whose guest takes settings is not idle', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  plane.troubles.settings = 'unheard';
  const lifecycle = { idleTimeoutSeconds: 1 };
  await plane.agents.update(world.accountId, id, { instructions: 'Be brief.', lifecycle });
  await until('the guest is at it', async () => applies(plane) === 1);
  await sleep(3_500);
  assert.equal((await find(id)).status, 'running');
  await plane.end();
});

test('settings that are refused leave the agent running, say so once, and are tried again', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host);
  const { id } = await running(world, plane);
  plane.troubles.settings = 'refused';
  await plane.agents.update(world.accountId, id, { instructions: 'Be brief.' });
  const tried = async () =>
    world.store.database.repeatable((db) =>
      logPage(db, { agentId: id, limit: 9, direction: 'asc', search: 'not in effect' }),
    );
  await until('the failure is told', async () => (await tried()).length === 1);
  const row = await find(id);
  assert.deepEqual([row.status, plane.agents.inEffect(row)], ['running', false]);
  plane.troubles.settings = null;
  await sleep(2_100);
  await plane.agents.update(world.accountId, id, { name: 'look again' });
  assert.equal(plane.agents.inEffect(await plane.agents.awaitInEffect(world.accountId, id, 120_000, never)), true);
  await plane.end();
});

test('killed after the guest has taken them and before the row says so: they are in effect', async () => {
  const host = new FakeHost();
  const first = await startPlane(world, host);
  const { id } = await running(world, first);
  first.troubles.settings = 'unheard';
  await first.agents.update(world.accountId, id, { instructions: 'Be brief.' });
  await until('the guest has them', async () => instructionsOf(host, await find(id)) === 'Be brief.');
  first.kill();
  const second = await startPlane(world, host);
  const row = await second.agents.awaitInEffect(world.accountId, id, 120_000, never);
  assert.deepEqual(
    [second.agents.inEffect(row), instructionsOf(host, row), row.status],
    [true, 'Be brief.', 'running'],
  );
  await second.end();
});
