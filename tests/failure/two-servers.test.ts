/**
 * Two server processes on one database, both asked for changes of the same agents at the same time while one of them is
 * killed now and then. The guarantees are those of one: one operation at a time, no VM twice, nothing lost, nothing stuck.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { formOf } from '@lodge/testkit/forms';
import { Service } from '@lodge/testkit/service';
import { FaultWorld } from './fault-world.ts';

const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
const trafficMs = formOf({ short: 15_000, long: 10 * 60_000 });
const entry = new URL('./lodge-with-bare-guests.ts', import.meta.url);
let first: Service;
let second: Service;
let world: FaultWorld;

before(
  async () => {
    first = await Service.start({ entry });
    await first.awaitTemplate(10 * 60_000);
    second = await Service.start({
      entry,
      env: {
        DATABASE_URL: first.databaseUrl,
        LODGE_MASTER_KEY_FILE: join(first.dataDir, 'master.key'),
      },
    });
    // The key was printed by the first start of all; it is as good here.
    second.apiKey = first.apiKey;
    world = new FaultWorld([first, second], seed);
    await world.create(2);
  },
  { timeout: 15 * 60_000 },
);
after(async () => {
  await second?.destroy();
  await first?.destroy();
});

test(
  'verbs through both, with kills, for a while',
  { timeout: formOf({ short: 20, long: 60 }) * 60_000 },
  async (t) => {
    const end = Date.now() + trafficMs;
    for (let round = 1; Date.now() < end; round += 1) {
      const requests = world.traffic();
      await world.pause(800);
      if (round % 5 === 0) await world.kill('control plane');
      await requests;
    }
    await world.assertNothingLost().catch((error: unknown) => {
      throw new Error(`seed ${seed}\n${first.output.slice(-6_000)}\n--- second\n${second.output.slice(-6_000)}`, {
        cause: error,
      });
    });
    const { replies } = world.figures;
    t.diagnostic(JSON.stringify(world.figures));
    assert.ok(
      Object.keys(replies).some((key) => key.endsWith(' 200')),
      'no verb succeeded',
    );
  },
);
