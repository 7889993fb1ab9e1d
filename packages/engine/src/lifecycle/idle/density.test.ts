/** Paused agents count with what they hold, and however many are woken at once, no more memory is promised than there is. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pausedHoldMib, sizes } from '@lodge/domain';
import { execute } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { never, running, startPlane, until, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

const totalMib = 24 * 1024;
const memory = { reservedMib: 1024, overcommit: 3 };
const promisableMib = (totalMib - memory.reservedMib) * memory.overcommit;
const shareMib = 200;
const asleepMib = pausedHoldMib(shareMib) * memory.overcommit;
const count = 100;
const code = (outcome: PromiseSettledResult<unknown>): unknown =>
  outcome.status === 'rejected' ? (outcome.reason as { code: unknown }).code : 'done';

/** Makes agents that sleep. */
async function asleep(plane: Plane, many: number): Promise<string[]> {
  const made = await Promise.all(Array.from({ length: many }, () => running(world, plane, { size: 'medium' })));
  const ids = made.map(({ id }) => id);
  await Promise.all(
    ids.map(async (id) => {
      await plane.agents.act(world.accountId, id, 'pause');
      await plane.agents.awaitVerb(world.accountId, id, 'pause', 120_000, never);
    }),
  );
  return ids;
}

/** The promises of this moment, by the rows alone. */
async function promisedNow(): Promise<{ promised: number; awake: number }> {
  let promised = 0;
  let awake = 0;
  for (const { status, operation } of await world.store.agents.all()) {
    const wakes = operation !== null && ['start', 'resume', 'restart', 'upgrade'].includes(operation.kind);
    if (wakes || status === 'running' || status === 'provisioning') {
      promised += sizes.medium.memoryMib;
      awake += 1;
    } else if (status === 'paused') promised += asleepMib;
  }
  return { promised, awake };
}

test('24 GiB take a hundred paused mediums; fifty that wake at once get what room there is or can be made, and no more', async () => {
  const host = new FakeHost();
  host.memory = { totalMib, availableMib: 20_000 };
  host.usage = { ...host.usage, memoryMib: shareMib };
  const read = new Set<string>();
  const usageOf = host.usageOf.bind(host);
  host.usageOf = (id) => {
    read.add(id);
    return usageOf(id);
  };
  const plane = await startPlane(world, host, { memory, provisionTimeoutMs: 120_000 });
  const ids: string[] = [];
  while (ids.length < count) {
    const room = Math.floor((promisableMib - ids.length * asleepMib) / sizes.medium.memoryMib);
    ids.push(...(await asleep(plane, Math.min(10, count - ids.length, room))));
    // One that was not read since its pause counts with its size, and a create would stop others to make room for itself.
    await until('their memory was read', () => ids.every((id) => read.has(id)));
  }
  assert.equal(ids.length, count);
  assert.deepEqual(await statuses(), { paused: count });

  // Wakes of one account wait for each other in any case.
  for (const id of ids.slice(0, 50)) {
    await execute(
      world.database.connectionString,
      `insert into accounts (id, name) values ('of_${id}', 'A'); update agents set account_id = 'of_${id}' where id = '${id}'`,
    );
  }
  let mostPromised = 0;
  const over = new AbortController();
  const watch = (async () => {
    while (!over.signal.aborted) {
      mostPromised = Math.max(mostPromised, (await promisedNow()).promised);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const wakes = await Promise.allSettled(ids.slice(0, 50).map((id) => plane.agents.act(`of_${id}`, id, 'resume')));
  const woken = wakes.filter(({ status }) => status === 'fulfilled').length;
  const { awake } = await promisedNow();
  over.abort();
  await watch;
  assert.ok(mostPromised <= promisableMib, `${mostPromised} of ${promisableMib} MiB were promised`);
  assert.ok(woken >= 5 && woken < 50, `${woken} woke`);
  assert.equal(awake, woken);
  const refused = wakes.map(code).filter((each) => each !== 'done');
  assert.ok(
    refused.every((each) => each === 'insufficient_capacity' || each === 'agent_transitioning'),
    refused.join(),
  );
  assert.equal((await world.store.agents.all()).length, count, 'none is lost');
  await execute(world.database.connectionString, `update agents set account_id = '${world.accountId}'`);
  await plane.end();
});

async function statuses(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { status } of await world.store.agents.all()) found[status] = (found[status] ?? 0) + 1;
  return found;
}
