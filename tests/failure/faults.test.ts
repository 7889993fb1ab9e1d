/**
 * Kills at random moments during verbs on four agents, and a clock that jumps. The guarantee: nothing acknowledged is lost,
 * nothing is orphaned, nobody is stuck. The effects of damage and a full disk on one agent are in the driver's suite
 * (packages/vm/conformance) and in packages/engine/src/lifecycle.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { formOf } from '@lodge/testkit/forms';
import { Service } from '@lodge/testkit/service';
import { FaultWorld, faultRun } from './fault-world.ts';

const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
const kills = formOf({ short: 4, long: 200 });
let service: Service;
let world: FaultWorld;

before(
  async () => {
    service = await Service.start({ entry: new URL('./lodge-with-jumping-clock.ts', import.meta.url) });
    await service.awaitTemplate(10 * 60_000);
    world = new FaultWorld([service], seed);
    await world.create(4);
  },
  { timeout: 15 * 60_000 },
);
after(() => service?.destroy());

test(
  `${kills} kills during verbs on four agents`,
  { timeout: formOf({ short: 20, long: 180 }) * 60_000 },
  async (t) => {
    await faultRun(world, kills, 4).catch((error: unknown) => {
      throw new Error(`seed ${seed}\n${service.output.slice(-8_000)}`, { cause: error });
    });
    t.diagnostic(JSON.stringify(world.figures));
  },
);

test('a clock that jumps strands nobody and fires nothing early', { timeout: 20 * 60_000 }, async () => {
  const { id } = world.agents[0]!;
  // The control plane's clock goes two hours ahead in the midst of a restart, then back.
  const restart = service.call('POST', `/agents/${id}/restart`);
  process.kill(service.pid, 'SIGUSR2');
  assert.ok((await restart).status < 300, JSON.stringify((await restart).body));
  const after = await service.call('GET', `/agents/${id}?wait_for=running&timeout=200`);
  assert.equal(after.body.status, 'running', JSON.stringify(after.body));
  assert.equal((await service.call('POST', `/agents/${id}/stop`)).status, 200);
  process.kill(service.pid, 'SIGUSR2');
  assert.equal((await service.call('POST', `/agents/${id}/start`)).status, 200);
  // The guest's clock is the host's, whatever it was when it was saved.
  const asked = Date.now() / 1000;
  const date = await (await world.guest(id)).exec({ argv: ['/bin/date', '+%s'], timeoutMs: 60_000 });
  const told = Number(date.stdout);
  assert.ok(told > asked - 30 && told < Date.now() / 1000 + 30, `the guest has ${date.stdout}`);
});
