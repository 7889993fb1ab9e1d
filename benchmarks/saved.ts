/**
 * The cost of snapshots, restores and forks, with real agents, each beside something else in the same run:
 *   rounds: a snapshot of a running agent beside writing and syncing as many bytes, and the time for which its guest stands
 *     still; a fork of it after ten turns beside a create; a restore beside a start;
 *   changes: a fork after so many MiB of changes beside a create and copying as many;
 *   forks: many at once beside as many creates, and the private memory of each;
 *   snapshots: a restore after so many beside the first.
 * The steps of a round take turns, so that a machine whose speed drifts slows all of them. The model is a stub that answers
 * at once. A part whose number is 0 is left out.
 *
 *   node_modules/.bin/node benchmarks/saved.ts [--runtime openclaw] [--rounds 3] [--changed-mib 1024] [--forks 20] [--snapshots 50]
 */
import { rm } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { qemuPid } from '../tests/e2e/guest-memory.ts';
import { acceleratorOf, copyAndSync, median, millis, privateMib, spread, table, writeAndSync } from './figures.ts';
import { measure } from './runtime.ts';
import { callsOf } from './saved-calls.ts';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'openclaw' },
    rounds: { type: 'string', default: '3' },
    'changed-mib': { type: 'string', default: '1024' },
    forks: { type: 'string', default: '20' },
    snapshots: { type: 'string', default: '50' },
  },
});
const rounds = Number(values.rounds);
const changedMib = Number(values['changed-mib']);
const forks = Number(values.forks);
const snapshots = Number(values.snapshots);
/** Restores whose median counts. */
const repeated = 3;

const names = [
  'create',
  'snapshot',
  'write and fsync as many bytes',
  'fork after ten turns',
  'restore',
  'start',
  'copy and fsync as many bytes as changed',
  'fork after the changes',
  'as many creates as forks',
  'save of the parent of many',
  'many forks',
  'first restore',
  'restore after many snapshots',
] as const;
type Name = (typeof names)[number];
const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
const memory = {
  created: [] as number[],
  forked: [] as number[],
  createdUsed: [] as number[],
  forkedUsed: [] as number[],
};
let accelerator = '';

// Many agents at once, on a host that may be small.
const measured = await measure(values.runtime, {
  LODGE_MAX_RUNNING: '1000',
  LODGE_MEMORY_OVERCOMMIT: '16',
  LODGE_DISK_OVERCOMMIT: '64',
});
const { service } = measured;
const { chat, create, exec, fork, remove, restore, save, stillness, verb } = callsOf(measured);
try {
  await measured.ready;
  for (let round = 0; round < rounds; round += 1) await oneRound();
  if (changedMib > 0) await changedRound();
  if (forks > 0) await manyRound();
  if (snapshots > 0) await deepRound();
  print();
} catch (error) {
  console.error(service.output);
  throw error;
} finally {
  await measured.close();
}

async function oneRound(): Promise<void> {
  const id = await timed('create', created);
  await turns(id, 10);
  const { id: snapshot, bytes } = await timed('snapshot', () => save(id));
  await timed('write and fsync as many bytes', () => writeAndSync(join(service.dataDir, '.baseline'), bytes));
  await remove(...(await timed('fork after ten turns', () => fork(id, 1))));
  await timed('restore', () => restore(id, snapshot));
  await chat(id);
  await verb(id, 'stop');
  await timed('start', () => verb(id, 'start'));
  await remove(id);
}

/** The changes are in the guest's memory, in a file that does not compress. */
async function changedRound(): Promise<void> {
  const source = join(service.dataDir, '.baseline');
  await writeAndSync(source, changedMib * 2 ** 20, { removed: false });
  const id = await timed('create', created);
  await exec(id, `mount -o remount,size=90% /dev/shm && head -c ${changedMib}M /dev/urandom > /dev/shm/changed`);
  for (let round = 0; round < 2; round += 1) {
    await timed('copy and fsync as many bytes as changed', () => copyAndSync(source));
    await remove(...(await timed('fork after the changes', () => fork(id, 1))));
  }
  await remove(id);
  await rm(source);
}

async function manyRound(): Promise<void> {
  const small = { size: 'small' };
  const made = await timed('as many creates as forks', () =>
    Promise.all(Array.from({ length: forks }, () => create(small))),
  );
  await readMemory(made, memory.created, memory.createdUsed);
  const [parent, ...others] = made as [string, ...string[]];
  await remove(...others);
  await turns(parent, 10);
  await timed('save of the parent of many', () => save(parent));
  const forked = await timed('many forks', () => fork(parent, forks));
  await readMemory(forked, memory.forked, memory.forkedUsed);
  await remove(parent, ...forked);
}

/** Reads that of a few as they came, and of one after a turn. */
async function readMemory(ids: readonly string[], before: number[], after: number[]): Promise<void> {
  const pids = await Promise.all(ids.slice(0, 3).map((id) => qemuPid(service.dataDir, id)));
  accelerator = await acceleratorOf(pids[0]!);
  before.push(...(await Promise.all(pids.map(privateMib))));
  await chat(ids[0]!);
  after.push(await privateMib(pids[0]!));
}

/** Most of the snapshots have the disk alone, which is what chains grow by. */
async function deepRound(): Promise<void> {
  const id = await created();
  await turns(id, 2);
  const first = await save(id);
  for (let times = 0; times < repeated; times += 1) await timed('first restore', () => restore(id, first.id));
  for (let more = 2; more < snapshots; more += 1) {
    await exec(id, `head -c 1M /dev/urandom > /workspace/changed-${more}`);
    await save(id, { memory: false });
  }
  const last = await save(id);
  for (let times = 0; times < repeated; times += 1) {
    await timed('restore after many snapshots', () => restore(id, last.id));
  }
  await remove(id);
}

async function created(): Promise<string> {
  const id = await create();
  accelerator = await acceleratorOf(await qemuPid(service.dataDir, id));
  return id;
}

async function turns(id: string, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await chat(id);
}

async function timed<T>(name: Name, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  times[name].push(performance.now() - started);
  return result;
}

function print(): void {
  const of = (name: Name): number => median(times[name]);
  const say = (what: string, figure: number, bound?: number): void =>
    console.log(`${what} = ${figure.toFixed(2)}${bound === undefined ? '' : ` (at most ${bound})`}`);
  const load = loadavg().map((each) => each.toFixed(1));
  console.log(
    `# saved, ${measured.runtime.name} ${measured.runtime.version}, ${new Date().toISOString().slice(0, 10)}\n`,
  );
  console.log(`${cpus().length} cores (${cpus()[0]!.model}), accelerator ${accelerator}, load ${load.join(', ')}.\n`);
  console.log(`${table(['milliseconds', 'median', 'min', 'max'], rowsOfTimes())}\n`);
  if (rounds > 0) {
    say('fork after ten turns / create', of('fork after ten turns') / of('create'), 1.5);
    say('restore / start', of('restore') / of('start'), 1.5);
    say('snapshot / writing its bytes', of('snapshot') / of('write and fsync as many bytes'));
  }
  if (changedMib > 0) {
    const copies = (of('fork after the changes') - of('create')) / of('copy and fsync as many bytes as changed');
    say(`fork after ${changedMib} MiB of changes, beyond a create / copying them`, copies, 2.5);
  }
  if (forks > 0) {
    const beside = (of('many forks') - of('save of the parent of many')) / of('as many creates as forks');
    say(`${forks} forks less one save / ${forks} creates`, beside, 1.5);
    const { created, createdUsed, forked, forkedUsed } = memory;
    say('private memory, forks / created', median(forked) / median(created), 1.1);
    say('private memory after a turn, forks / created', median(forkedUsed) / median(createdUsed), 1.1);
    console.log(`private MiB: created ${spread(created)}, after a turn ${spread(createdUsed)};`);
    console.log(`forked ${spread(forked)}, after a turn ${spread(forkedUsed)}`);
  }
  if (snapshots > 0) {
    say(`restore after ${snapshots} / first restore`, of('restore after many snapshots') / of('first restore'), 1.2);
  }
  for (const { ms, mib } of stillness().filter((each) => each.mib > 0)) {
    console.log(`stood still ${ms} ms for ${Math.round(mib)} MiB: ${Math.round((ms / mib) * 1024)} ms for each GiB`);
  }
}

function rowsOfTimes(): string[][] {
  return names
    .filter((name) => times[name].length > 0)
    .map((name) => [name, ...[median(times[name]), Math.min(...times[name]), Math.max(...times[name])].map(millis)]);
}
