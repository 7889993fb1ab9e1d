/**
 * The long fault run: kills at random moments during verbs on four agents, then everything is counted.
 *
 *   node_modules/.bin/node tests/failure/fault-run.ts [--kills 200] [--seed N]
 *
 * Prints its seed and its figures; ends with 1 when anything acknowledged was lost, or anything is left or stuck.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Service } from '@lodge/testkit/service';
import { FaultWorld, faultRun } from './fault-world.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '200' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? randomInt(2 ** 31));
const kills = Number(values.kills);

console.log(`seed ${seed}, ${kills} kills`);
const service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
const world = new FaultWorld([service], seed);
const started = performance.now();
try {
  await service.awaitTemplate(20 * 60_000);
  await world.create(4);
  await faultRun(world, kills, 10, (made) => console.log(`${made} kills`));
  console.log('nothing lost, nothing orphaned, nothing stuck');
} catch (error) {
  console.log(service.output.slice(-20_000));
  console.log(error);
  process.exitCode = 1;
} finally {
  console.log(JSON.stringify({ ...world.figures, seconds: Math.round((performance.now() - started) / 1000) }, null, 2));
  await service.destroy();
}
