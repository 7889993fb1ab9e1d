/**
 * Random lives of the domain's property test (`lifeOf`), lived by real machines. Events that only a fake host has (an effect
 * that is made to fail, a hypervisor that freezes a guest by itself) pass here without effect.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lifeOf } from '@lodge/domain/testing';
import type { Event } from '@lodge/domain/testing';
import { formOf } from '@lodge/testkit/forms';
import { Service } from '@lodge/testkit/service';
import { Client } from 'pg';
import { FaultWorld } from './fault-world.ts';
import { emulators } from './holdings.ts';

const lives = formOf({ short: 1, long: 30 });
const events = 14;
const base = Number(process.env['LODGE_SEED'] ?? randomInt(2 ** 31));
let service: Service;
let database: Client;

before(
  async () => {
    service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
    await service.awaitTemplate(10 * 60_000);
    database = new Client(service.databaseUrl);
    await database.connect();
  },
  { timeout: 12 * 60_000 },
);
after(async () => {
  await database?.end();
  await service?.destroy();
});

/** Everything but a server's own failure is a part of life. 503: a bare guest has no gateway that could answer a chat. */
const expected = new Set([200, 201, 202, 409, 503]);

async function take(world: FaultWorld, id: string, event: Event): Promise<void> {
  switch (event.do) {
    case 'verb':
      assertExpected(await service.call('POST', `/agents/${id}/${event.verb}?wait=false`));
      break;
    case 'use': {
      const chat = { messages: [{ role: 'user', content: 'ping' }] };
      assertExpected(await service.call('POST', `/agents/${id}/chat/completions?wake=${event.wake}`, chat));
      break;
    }
    case 'wait':
      await pass(id, event.seconds);
      break;
    case 'crash-vm': {
      const pid = (await emulators(service.dataDir)).get(id);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      break;
    }
    case 'crash-control':
      await sleep(event.afterEffects * 50);
      await service.end('SIGKILL');
      await service.up();
      break;
    case 'freeze-vm':
    case 'fail':
      break;
    case 'quiet':
      await world.settle();
  }
}

function assertExpected({ status, body }: Awaited<ReturnType<Service['call']>>): void {
  assert.ok(expected.has(status), `${status} ${JSON.stringify(body)}`);
}

/** All that the row remembers was so much earlier: idleness looks at that alone. */
async function pass(id: string, seconds: number): Promise<void> {
  const earlier = (column: string): string => `${column} = ${column} - $2 * interval '1 second'`;
  const columns = ['last_active_at', 'started_at', 'paused_at', 'created_at'].map(earlier).join(', ');
  const crashes = `crashes = array(select at - $2 * interval '1 second' from unnest(crashes) at)`;
  await database.query(`update agents set ${columns}, ${crashes} where id = $1`, [id, seconds]);
  await sleep(1_500);
}

test(
  `${lives} random lives from seed ${base} never reach what the contract forbids`,
  { timeout: formOf({ short: 20, long: 240 }) * 60_000 },
  async () => {
    for (let seed = base; seed < base + lives; seed += 1) {
      const world = new FaultWorld([service], seed);
      await world.create(1, { idle_timeout_seconds: 45, stop_after_seconds: 1800 });
      const { id } = world.agents[0]!;
      for (const [index, event] of lifeOf(seed, events).entries()) {
        await take(world, id, event).catch((error: unknown) => {
          const what = `seed ${seed}, event ${index} ${JSON.stringify(event)}\n${service.output.slice(-6_000)}`;
          throw new Error(what, { cause: error });
        });
      }
      await world.assertNothingLost();
      assert.equal((await service.call('DELETE', `/agents/${id}`)).status, 200);
    }
  },
);
