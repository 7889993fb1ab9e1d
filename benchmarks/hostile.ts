/**
 * What a bystander feels while hostile guests attack time, memory, disk, network and money of the box: a line for each attack
 * with the p99 and the worst of the bystander's requests, beside those of a quiet box in the same run.
 *
 *     node benchmarks/hostile.ts [part of an attack's name]
 */
import { openHostileWorld } from '../tests/security/hostile/world.ts';
import { runAttacks, tableOf } from '../tests/security/hostile/run.ts';

const [part = ''] = process.argv.slice(2);
const world = await openHostileWorld();
try {
  const run = await runAttacks(world, {
    quietMs: 15_000,
    betweenMs: 1500,
    attackMs: 4000,
    mixedMs: 20_000,
    only: ({ name }) => name.includes(part),
    onOutcome: (attack, outcome) => process.stderr.write(`${attack}: ${outcome.slice(0, 200)}\n`),
  });
  console.log(tableOf(run));
  for (const { attack, felt } of run.rows) {
    for (const { failures } of Object.values(felt))
      for (const failure of failures) console.log(`${attack}: ${failure}`);
  }
} finally {
  await world.close();
}
