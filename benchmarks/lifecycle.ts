/**
 * The cost and the savings of sleep, with real agents, in one run:
 *   pause and resume by API beside the bare QMP calls; a first chat after a pause beside a warm chat;
 *   a stop beside writing and syncing as many bytes; a start beside a create; the first chat after a start beside one after a
 *   cold boot; and the host's memory of an agent that runs idle, is paused, is stopped.
 * The steps of a round take turns, so that a machine whose speed drifts slows all of them. The model is a stub that answers
 * at once.
 *
 *   node_modules/.bin/node benchmarks/lifecycle.ts [--runtime openclaw] [--rounds 10] [--cold-rounds 1]
 */
import { readdir, stat } from 'node:fs/promises';
import { cpus, freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { restOf } from '@lodge/ports';
import { qemuPid } from '../tests/e2e/guest-memory.ts';
import { bareMachine } from './bare-machine.ts';
import { acceleratorOf, memAvailableMib, median, millis, pssMib, table, writeAndSync } from './figures.ts';
import { measure } from './runtime.ts';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'openclaw' },
    rounds: { type: 'string', default: '10' },
    'cold-rounds': { type: 'string', default: '1' },
  },
});
const rounds = Number(values.rounds);
const coldRounds = Number(values['cold-rounds']);

const names = [
  'bare QMP stop',
  'bare QMP cont',
  'pause by API',
  'resume by API',
  'warm chat',
  'first chat after a pause',
  'stop by API',
  'write and fsync as many bytes',
  'create by API',
  'start by API, from stopped',
  'first chat after a start',
  'cold boot until the first chat',
] as const;
type Name = (typeof names)[number];
const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
const memory = { running: [] as number[], paused: [] as number[], snapshotMib: [] as number[], freed: [] as number[] };

let accelerator = '';

const measured = await measure(values.runtime);
const { service, runtime } = measured;
const bare = await bareMachine(runtime, measured.ready);
try {
  for (let round = 0; round < rounds; round += 1) await lifecycleRound();
  for (let round = 0; round < coldRounds; round += 1) await coldRound();
  print();
} finally {
  await bare.close();
  await measured.close();
}

async function lifecycleRound(): Promise<void> {
  const clone = await bare.clone();
  accelerator = await acceleratorOf(clone.pid);
  await timed('bare QMP stop', () => clone.freeze());
  await timed('bare QMP cont', () => clone.thaw());
  await clone.remove();

  const id = await timed('create by API', create);
  await chat(id);
  await chat(id);
  await timed('warm chat', () => chat(id));
  await sleep(3_000);
  memory.running.push(await pssMib(await qemuPid(service.dataDir, id)));
  await timed('pause by API', () => verb(id, 'pause'));
  memory.paused.push(await pssMib(await qemuPid(service.dataDir, id)));
  await timed('resume by API', () => verb(id, 'resume'));
  await timed('warm chat', () => chat(id));
  await verb(id, 'pause');
  await timed('first chat after a pause', () => chat(id));

  const before = await memAvailableMib();
  await timed('stop by API', () => verb(id, 'stop'));
  memory.freed.push((await memAvailableMib()) - before);
  const bytes = await folderBytes(join(service.dataDir, 'saved', restOf(id)));
  memory.snapshotMib.push(bytes / 2 ** 20);
  await timed('write and fsync as many bytes', () => writeAndSync(join(service.dataDir, 'vms', '.baseline'), bytes));
  await timed('start by API, from stopped', () => verb(id, 'start'));
  await timed('first chat after a start', () => chat(id));
  await service.call('DELETE', `/agents/${id}`);
}

async function coldRound(): Promise<void> {
  const id = await create();
  await chat(id);
  await timed('cold boot until the first chat', async () => {
    await service.call('POST', `/agents/${id}/restart?wait=false`);
    let status = 'running';
    do {
      ({ status } = (await service.call('GET', `/agents/${id}?wait_for=running&timeout=300`)).body as {
        status: string;
      });
    } while (status !== 'running');
    await chat(id);
  });
  await service.call('DELETE', `/agents/${id}`);
}

async function timed<T>(name: Name, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  times[name].push(performance.now() - started);
  return result;
}

function create(): Promise<string> {
  return measured.create({ lifecycle: { idle_timeout_seconds: 0 } });
}

async function chat(id: string): Promise<void> {
  const messages = [{ role: 'user', content: 'ping' }];
  const reply = await service.call('POST', '/chat/completions', { model: id, user: 'benchmark', messages });
  if (reply.status !== 200) throw new Error(`chat answered ${reply.status}: ${JSON.stringify(reply.body)}`);
}

async function verb(id: string, name: string): Promise<void> {
  const reply = await service.call('POST', `/agents/${id}/${name}`);
  if (reply.status !== 200) throw new Error(`${name} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
}

async function folderBytes(folder: string): Promise<number> {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function print(): void {
  const of = (name: Name): number => median(times[name]);
  const mib = (all: readonly number[]): string => `${Math.round(median(all))} MiB`;
  const extra = (by: Name, over: Name): string => `${(of(by) - of(over)).toFixed(1)} ms on top of the bare call`;
  const ratio = (by: Name, over: Name): string => (of(by) / of(over)).toFixed(2);
  console.log(`# lifecycle, ${runtime.name} ${runtime.version}, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(`${cpus().length} cores (${cpus()[0]!.model}), accelerator ${accelerator}, ${rounds} rounds.\n`);
  console.log(table(['milliseconds', 'median', 'min', 'max'], rowsOfTimes()));
  console.log(`\npause: ${extra('pause by API', 'bare QMP stop')} (wanted: at most 25)`);
  console.log(`resume: ${extra('resume by API', 'bare QMP cont')} (wanted: at most 25)`);
  console.log(`first chat after a pause / warm chat = ${ratio('first chat after a pause', 'warm chat')} (at most 1.3)`);
  console.log(`stop / writing its bytes = ${ratio('stop by API', 'write and fsync as many bytes')} (at most 2)`);
  console.log(`start / create = ${ratio('start by API, from stopped', 'create by API')} (at most 1.5)`);
  if (coldRounds > 0) {
    const warm = of('start by API, from stopped') + of('first chat after a start');
    const cold = (of('cold boot until the first chat') / warm).toFixed(1);
    console.log(`cold boot until the first chat / start and first chat = ${cold} (at least 10)`);
  }
  const free = Math.round(freemem() / 2 ** 20);
  console.log(`\nPSS, running idle: ${mib(memory.running)}; paused: ${mib(memory.paused)}; stopped: none.`);
  console.log(`Memory that a stop gave back: ${mib(memory.freed)}. Snapshot on disk: ${mib(memory.snapshotMib)}.`);
  const fit = Math.floor(totalmem() / 2 ** 20 / median(memory.paused));
  console.log(`Paused agents that fit into ${Math.round(totalmem() / 2 ** 20)} MiB: ${fit} (${free} MiB free now).`);
}

function rowsOfTimes(): string[][] {
  return names
    .filter((name) => times[name].length > 0)
    .map((name) => [name, ...[median(times[name]), Math.min(...times[name]), Math.max(...times[name])].map(millis)]);
}
