/**
 * Many saves of one agent: the time of each and of the chats between them, how deep its disk's chain gets, and the disk space
 * of all its saved machines. `--by request` saves after each chat and deletes all but the newest `keep`; `--by plan` has
 * Lodge do both (`every_turns: 1`), which takes turns with its rounds of ten seconds.
 *
 *   node_modules/.bin/node benchmarks/saves.ts [--runtime hermes] [--by request] [--saves 100] [--keep 10]
 */
import { execFile } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { qemuPid } from '../tests/e2e/guest-memory.ts';
import { chainOf } from '../packages/vm/src/qemu/saved/layers.ts';
import { acceleratorOf, spread, table } from './figures.ts';
import { measure } from './runtime.ts';
import { callsOf } from './saved-calls.ts';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'hermes' },
    by: { type: 'string', default: 'request' },
    saves: { type: 'string', default: '100' },
    keep: { type: 'string', default: '10' },
  },
});
const saves = Number(values.saves);
const keep = Number(values.keep);
const byPlan = values.by === 'plan';
const run = promisify(execFile);

interface Step {
  readonly chatMs: number;
  readonly saveMs: number;
  readonly stillMs: number;
  /** Layers of its disk. */
  readonly depth: number;
  readonly snapshots: number;
  /** The folder of saved machines, with what hard links share counted once, MiB. */
  readonly diskMib: number;
}

const measured = await measure(values.runtime);
const { service } = measured;
const { call, chat, create, save, stillness } = callsOf(measured);
const steps: Step[] = [];
let accelerator = '';
try {
  await measured.ready;
  const plan = { every_turns: 1, keep };
  const id = await create(byPlan ? { snapshots: plan } : {});
  accelerator = await acceleratorOf(await qemuPid(service.dataDir, id));
  await chat(id);
  for (let nth = 0; nth < saves; nth += 1) steps.push(await step(id));
  print();
} catch (error) {
  console.error(service.output);
  throw error;
} finally {
  await measured.close();
}

async function step(id: string): Promise<Step> {
  const savedBefore = stillness().length;
  let began = performance.now();
  await chat(id);
  const chatMs = performance.now() - began;
  began = performance.now();
  if (byPlan) while (stillness().length === savedBefore) await sleep(100);
  else await save(id);
  const saveMs = performance.now() - began;
  const kept = await listed(id);
  if (!byPlan) for (const old of kept.slice(keep)) await call('DELETE', `/snapshots/${old}`);
  return {
    chatMs,
    saveMs,
    stillMs: stillness().at(-1)!.ms,
    depth: (await chainOf(join(service.dataDir, 'vms', id, 'disk.qcow2')))!.layers.length,
    snapshots: Math.min(kept.length, byPlan ? Infinity : keep),
    diskMib: await occupied(join(service.dataDir, 'saved')),
  };
}

/** The newest first. */
async function listed(id: string): Promise<string[]> {
  const { data } = (await call('GET', `/agents/${id}/snapshots?limit=100`)) as {
    readonly data: readonly { readonly id: string }[];
  };
  return data.map((each) => each.id);
}

/** A folder that is freed meanwhile counts with what is still there. */
async function occupied(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sm', folder]).catch((error: { readonly stdout: string }) => error);
  return Number.parseInt(stdout, 10);
}

function print(): void {
  const { name, version } = measured.runtime;
  const load = loadavg().map((each) => each.toFixed(1));
  const width = Math.min(10, saves);
  const groups: [string, readonly Step[]][] = [
    [`first ${width}`, steps.slice(0, width)],
    [`last ${width}`, steps.slice(-width)],
    ['all', steps],
  ];
  console.log(`# saves, ${name} ${version}, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(`${cpus().length} cores (${cpus()[0]!.model}), accelerator ${accelerator}, load ${load.join(', ')}.`);
  console.log(`${saves} saves by ${values.by}, keep ${keep}. Median (least to most).\n`);
  const columns = ['chatMs', 'saveMs', 'stillMs', 'depth', 'snapshots', 'diskMib'] as const;
  const rows = groups.map(([title, group]) => [
    title,
    ...columns.map((column) => spread(group.map((each) => each[column]))),
  ]);
  console.log(table(['', 'chat, ms', 'save, ms', 'of it still, ms', 'layers', 'snapshots', 'disk, MiB'], rows));
}
