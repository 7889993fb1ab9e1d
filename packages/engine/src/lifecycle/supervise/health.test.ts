/**
 * Gateways are watched from outside: Lodge restarts them within bounds, tells their troubles apart, and leaves working ones
 * alone.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import { logPage } from '@lodge/store/logs';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const find = async (id: string) => (await world.store.agents.find(id))!;
const everySoOften = { healthEveryMs: 40 };

test('a gateway that does not answer is restarted once, and the second time within ten minutes is an error', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host, everySoOften);
  const before = await running(world, plane);
  plane.troubles.sick = true;
  await until('it was restarted', async () => {
    const row = await find(before.id);
    return row.status === 'running' && row.executionId !== before.executionId;
  });
  assert.equal((await find(before.id)).crashes.length, 1);
  plane.troubles.sick = true;
  await until('it is in error', async () => (await find(before.id)).status === 'error');
  assert.equal((await find(before.id)).statusReason?.code, 'gateway_unhealthy');
  assert.equal(host.vms.get(before.id)?.phase, 'disk');
  await plane.end();
});

for (const [code, health] of [
  ['out_of_memory', { oomKills: 1 }],
  ['disk_full', { diskFreeMib: 3 }],
] as const) {
  test(`a second death of a VM whose guest had ${code} says so`, async () => {
    const host = new FakeHost();
    const plane = await startPlane(world, host, everySoOften);
    const { id, executionId } = await running(world, plane);
    plane.troubles.health = health;
    const logged = async () => {
      const entries = await world.store.database.repeatable((db) =>
        logPage(db, { agentId: id, limit: 100, direction: 'asc', minLevel: 'warn' }),
      );
      return entries.some(({ message }) => /out of memory|disk is full/.test(message));
    };
    await until('the log tells of it', logged);
    host.kill(id);
    await until('it runs again', async () => {
      const row = await find(id);
      return row.status === 'running' && row.executionId !== executionId;
    });
    host.kill(id);
    await until('it is in error', async () => (await find(id)).status === 'error');
    assert.equal((await find(id)).statusReason?.code, code);
    await plane.end();
  });
}

test('a gateway at work is not restarted for being slow to answer', async () => {
  const host = new FakeHost();
  const plane = await startPlane(world, host, everySoOften);
  const { id, executionId } = await running(world, plane);
  const live = await plane.agents.use(world.accountId, id, { wake: false, timeoutMs: 1_000, signal: never });
  plane.troubles.sick = true;
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.deepEqual([(await find(id)).executionId, (await find(id)).operation], [executionId, null]);
  plane.troubles.sick = false;
  live.release();
  await plane.end();
});
