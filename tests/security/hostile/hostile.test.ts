/**
 * A guest with root attacks the time, memory, disk, network and money of everybody, with real machines and by every way it has,
 * one attack after another and several at once. Meanwhile a bystander of another account chats, lists and makes agents:
 * nothing of its work fails, and none of it takes much longer than on a quiet box.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { requestKinds } from './bystander.ts';
import { runAttacks, tableOf } from './run.ts';
import type { Run } from './run.ts';
import { openHostileWorld } from './world.ts';
import type { World } from './world.ts';

let world: World;
let run: Run;

before(
  async () => {
    world = await openHostileWorld();
    run = await runAttacks(world, { quietMs: 10_000, betweenMs: 700, attackMs: 1500, mixedMs: 15_000 });
  },
  { timeout: 25 * 60_000 },
);
after(async () => {
  await world?.close();
});

test('no request of the bystander fails', (t: TestContext) => {
  t.diagnostic(`\n${tableOf(run)}`);
  const failed = run.rows.flatMap(({ attack, felt }) =>
    requestKinds.flatMap((kind) => felt[kind].failures.map((failure) => `${attack}: ${failure}`)),
  );
  assert.deepEqual(failed, []);
});

test('it is served nearly as on a quiet box', () => {
  const slow = (['chat', 'list'] as const).flatMap((kind) => {
    const most = Math.min(500, 3 * run.quiet.felt[kind].p99);
    return [run.sequence, run.mixed!]
      .filter(({ felt }) => felt[kind].p99 > most)
      .map(({ attack, felt }) => `${attack}: ${kind} ${felt[kind].p99.toFixed(0)} > ${most.toFixed(0)} ms`);
  });
  assert.deepEqual(slow, []);
});

test('memory comes back, and nothing has died', async () => {
  assert.ok(run.after.rssMib < run.quiet.rssMib + 512, `${run.quiet.rssMib} MiB before, ${run.after.rssMib} after`);
  const { rows } = await world.database.query<{ crashes: number }>(
    'select coalesce(sum(cardinality(crashes)), 0)::int as crashes from agents where id = any($1)',
    [[world.ids.bystander, world.ids.one]],
  );
  assert.deepEqual(rows, [{ crashes: 0 }]);
  assert.doesNotMatch(world.service.output, /the database (ended|was started again)|uncaught/i);
});
