/**
 * Many saves of one agent: the time of each and of the chats between them, how deep its disk's chain gets, and the disk space
 * of all its saved machines. `--by request` saves after each chat and deletes all but the newest `keep`; `--by plan` has
 * Lodge do both (`every_turns: 1`). Lodge looks at plans every 100 ms then, in place of every ten seconds, because nothing
 * happens between two looks; the wait for a look is in the time of a save.
 *
 * A conversation has ten turns, then the next one begins: a longer one makes its chats slower by itself. So a chat of the
 * last turns has as much before it as one of the first. `--by nothing` chats as often without a save, which shows what the
 * turns themselves make slower. After `--minutes` it ends with what it has.
 *
 *   node_modules/.bin/node benchmarks/saves.ts [--runtime hermes] [--size small] [--by request] [--saves 100] [--keep 10]
 *     [--minutes 60]
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
    size: { type: 'string', default: 'small' },
    minutes: { type: 'string', default: '60' },
  },
});
const saves = Number(values.saves);
const keep = Number(values.keep);
const { by } = values;
if (by !== 'request' && by !== 'plan' && by !== 'nothing') throw new Error('--by is request, plan or nothing');
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

/** Turns of a conversation. */
const turns = 10;
const measured = await measure(values.runtime, {
  LODGE_RATE_READS: '100000',
  LODGE_RATE_WRITES: '100000',
  LODGE_RATE_CALLS: '100000',
  ...(by === 'plan' && { CONFORMANCE_SNAPSHOTS_EVERY_MS: '100' }),
});
const { service } = measured;
const { call, chat, create, save, stillness } = callsOf(measured);
const steps: Step[] = [];
let accelerator = '';
try {
  await measured.ready;
  const plan = { every_turns: 1, keep };
  const id = await create({ size: values.size, ...(by === 'plan' && { snapshots: plan }) });
  accelerator = await acceleratorOf(await qemuPid(service.dataDir, id));
  await step(id, 'before all');
  const end = performance.now() + Number(values.minutes) * 60_000;
  for (let nth = 0; nth < saves && performance.now() < end; nth += 1)
    steps.push(await step(id, `conversation ${Math.floor(nth / turns)}`));
  print();
} catch (error) {
  console.error(service.output);
  throw error;
} finally {
  await measured.close();
}

async function step(id: string, conversation: string): Promise<Step> {
  const newest = (await ready(id))[0];
  let began = performance.now();
  await chat(id, conversation);
  const chatMs = performance.now() - began;
  began = performance.now();
  if (by === 'plan') while ((await ready(id))[0] === newest) await sleep(20);
  else if (by === 'request') await save(id);
  const saveMs = performance.now() - began;
  const kept = await ready(id);
  if (by === 'request') for (const old of kept.slice(keep)) await call('DELETE', `/snapshots/${old}`);
  return {
    chatMs,
    saveMs,
    stillMs: stillness().at(-1)?.ms ?? 0,
    depth: (await chainOf(join(service.dataDir, 'vms', id, 'disk.qcow2')))!.layers.length,
    snapshots: Math.min(kept.length, by === 'plan' ? Infinity : keep),
    diskMib: await occupied(join(service.dataDir, 'saved')),
  };
}

/** The agent's snapshots, the newest first. After one that failed the plan waits for minutes. */
async function ready(id: string): Promise<string[]> {
  const { data } = (await call('GET', `/agents/${id}/snapshots?limit=100`)) as {
    readonly data: readonly { readonly id: string; readonly status: string; readonly error: string | null }[];
  };
  for (const { status, error } of data) if (status === 'failed') throw new Error(`a save failed: ${error}`);
  return data.filter(({ status }) => status === 'ready').map((each) => each.id);
}

/** A folder that is freed meanwhile counts with what is still there. */
async function occupied(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sm', folder]).catch((error: { readonly stdout: string }) => error);
  return Number.parseInt(stdout, 10);
}

function print(): void {
  const { name, version } = measured.runtime;
  const load = loadavg().map((each) => each.toFixed(1));
  // Whole conversations, as far as there are so many.
  const width = Math.min(steps.length, Math.max(1, Math.floor(saves / 10 / turns)) * turns);
  const groups: [string, readonly Step[]][] = [
    [`first ${width}`, steps.slice(0, width)],
    [`last ${width}`, steps.slice(-width)],
    ['all', steps],
  ];
  console.log(`# saves, ${name} ${version}, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(`${cpus().length} cores (${cpus()[0]!.model}), accelerator ${accelerator}, load ${load.join(', ')}.`);
  console.log(`${steps.length} saves by ${by}, keep ${keep}, ${values.size}. Median (least to most).\n`);
  const columns = ['chatMs', 'saveMs', 'stillMs', 'depth', 'snapshots', 'diskMib'] as const;
  const rows = groups.map(([title, group]) => [
    title,
    ...columns.map((column) => spread(group.map((each) => each[column]))),
  ]);
  console.log(table(['', 'chat, ms', 'save, ms', 'of it still, ms', 'layers', 'snapshots', 'disk, MiB'], rows));
}
