/**
 * A bystander's experience while hostile guests attack time, memory, disk, network and money of the box: a line for each
 * attack with the p99 and the worst of the bystander's requests, beside those of a quiet box in the same run.
 *
 *     node benchmarks/hostile.ts [part of an attack's name]
 *     node benchmarks/hostile.ts findings [part of a name]    each of the second review for 20 s, and a minute of rest behind it
 */
import { defaultDisk } from '@lodge/domain';
import { openHostileWorld } from '../tests/security/hostile/world.ts';
import { runAttacks, tableOf } from '../tests/security/hostile/run.ts';
import type { RunOptions } from '../tests/security/hostile/run.ts';

const [part = '', more = ''] = process.argv.slice(2);
const options: RunOptions =
  part === 'findings'
    ? {
        quietMs: 30_000,
        betweenMs: 60_000,
        attackMs: 20_000,
        mixedMs: 0,
        only: ({ finding, name }) => finding !== undefined && name.includes(more),
      }
    : {
        quietMs: 15_000,
        betweenMs: 1500,
        attackMs: 4000,
        mixedMs: part === '' ? 20_000 : 0,
        only: ({ name }) => name.includes(part),
      };
const world = await openHostileWorld();
try {
  const run = await runAttacks(world, {
    ...options,
    onOutcome: (attack, outcome) => process.stderr.write(`${attack}: ${outcome.slice(0, 300)}\n`),
  });
  console.log(`${tableOf(run)}\n\nThe floor of free disk is ${defaultDisk.floorMib} MiB.`);
  for (const { attack, felt } of run.rows) {
    for (const { failures } of Object.values(felt))
      for (const failure of failures) console.log(`${attack}: ${failure}`);
  }
} finally {
  await world.close();
}
