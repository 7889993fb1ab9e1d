/**
 * Two server processes share one database, each with its own host: an agent has one machine, on one of them, and accepts
 * verbs from both.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verbs } from '@lodge/domain';
import { randomFrom } from '@lodge/domain/testing';
import { FakeHost } from '@lodge/vm/fake';
import { input, never, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';

let world: World;
before(async () => {
  world = await World.open();
});
after(() => world.close());

test('creates and verbs through both are carried out once, by the one whose host has the disk', async () => {
  const hosts = [new FakeHost(), new FakeHost()] as const;
  const planes = await Promise.all(hosts.map((host) => startPlane(world, host)));
  const either = (index: number) => planes[index % 2]!.agents;
  const created = await Promise.all(
    Array.from({ length: 6 }, (_, index) => either(index).create(world.accountId, input)),
  );
  const ids = created.map(({ id }) => id);
  for (const [index, id] of ids.entries()) {
    assert.equal((await either(index + 1).awaitStatus(world.accountId, id, 15_000, never))?.status, 'running');
  }
  const seed = Date.now() % 1_000_000;
  const random = randomFrom(seed);
  for (let count = 120; count > 0; count -= 1) {
    const act = either(random(2)).act(world.accountId, ids[random(ids.length)]!, verbs[random(verbs.length)]!);
    await act.catch((error: Error) => assert.equal(error.name, 'Refusal', `seed ${seed}: ${String(error)}`));
    await new Promise((resolve) => setTimeout(resolve, random(15)));
  }
  for (const id of ids) {
    let seen = '';
    await until(`seed ${seed}: ${id} is at rest, on one host`, async () => {
      const row = (await world.store.agents.find(id))!;
      const machines = hosts.flatMap((host) => host.vms.get(id) ?? host.restOf(id) ?? []);
      seen = JSON.stringify([row, machines]);
      if (row.operation !== null || row.status === 'provisioning' || machines.length !== 1) return false;
      const [machine] = machines;
      return ('alive' in machine! && machine.alive) === (row.status === 'running' || row.status === 'paused');
    }).catch((error: unknown) => assert.fail(`${String(error)}: ${seen}`));
  }
  for (const id of ids) await either(ids.indexOf(id)).delete(world.accountId, id, never);
  assert.deepEqual(
    hosts.map((host) => host.vms.size + host.saved.size),
    [0, 0],
  );
  for (const plane of planes) await plane.end();
});
