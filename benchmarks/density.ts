/**
 * The host's memory that a paused agent takes: the fall of what is available over several of them, one kind after another:
 *   clones of the template; forks of one live agent, which share the memory of one file; agents that were booted from their
 *     disks and share nothing.
 * With `--page-out` each kind is paged out too, once its pauses are measured; the host must have swap (doctor says which).
 * One agent of the kind stays awake meanwhile, so that the pages which all share are there before. Each answers a chat, then it
 * is paused. The model is a stub that answers at once.
 *
 * Before them, the disk that a stopped agent takes, as it is and packed, which Lodge does after an hour.
 *
 *   node_modules/.bin/node benchmarks/density.ts [--runtime openclaw] [--agents 20] [--booted 2] [--stopped 4] [--size small] [--page-out]
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { restOf } from '@lodge/ports';
import { openCgroups, swapAreas } from '@lodge/vm';
import { SavedStore } from '../packages/vm/src/qemu/saved/machine/saved-store.ts';
import { qemuPid } from '../tests/e2e/guest-memory.ts';
import { acceleratorOf, median, memAvailableMib, millis, privateMib, pssMib, swappedMib, table } from './figures.ts';
import { measure } from './runtime.ts';
import { callsOf } from './saved-calls.ts';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'openclaw' },
    agents: { type: 'string', default: '20' },
    booted: { type: 'string', default: '2' },
    stopped: { type: 'string', default: '4' },
    size: { type: 'string', default: 'small' },
    'page-out': { type: 'boolean', default: false },
  },
});
const agents = Number(values.agents);
const booted = Number(values.booted);
const stopped = Number(values.stopped);
const { size } = values;
/** Bound on a boot without KVM. */
const bootMs = 15 * 60_000;

interface Kind {
  readonly name: string;
  readonly count: number;
  /** Fall of the available memory over each of them, MiB. */
  readonly fallMib: number;
  readonly privateMib: number;
  readonly pssMib: number;
  readonly swappedMib: number;
  /** Milliseconds until a paused one has answered a chat. */
  readonly wokenMs: number;
}

if (values['page-out'] && (await swapAreas()).length === 0) throw new Error('--page-out: this host has no swap');
const measured = await measure(values.runtime, {
  LODGE_MAX_RUNNING: '1000',
  LODGE_MEMORY_OVERCOMMIT: '16',
  // Only the benchmark pages out.
  LODGE_PAGE_OUT_AFTER_MINUTES: '0',
});
const { service } = measured;
const { chat, create, call, fork, remove, verb } = callsOf(measured);
const kinds: Kind[] = [];
/** A stopped agent's form, the disk that it takes (MiB), and the time of a start (ms). */
const rests: (readonly [form: string, diskMib: number, startMs: number])[] = [];
const run = promisify(execFile);
let accelerator = '';
try {
  await measured.ready;
  console.error('the template is there');
  if (stopped > 0) await stoppedRound();
  if (agents > 0) await pausedRound();
  print();
} catch (error) {
  console.error(service.output);
  throw error;
} finally {
  await measured.close();
}

async function pausedRound(): Promise<void> {
  const first = await create({ size });
  accelerator = await acceleratorOf(await qemuPid(service.dataDir, first));
  await chat(first);
  kinds.push(...(await measureKind('clones', agents, () => create({ size }))));
  // From three on they share; the first of them stays awake.
  const [awake, ...others] = (await fork(first, 3)) as [string, ...string[]];
  await remove(...others);
  await chat(awake);
  kinds.push(...(await measureKind('forks', agents, await forksOf(first))));
  await remove(first, awake);
  if (booted > 0) kinds.push(...(await measureKind('booted from their disks', booted, bootOne)));
}

/** Each of them has answered a few chats. The time is that of a start, and of packing. */
async function stoppedRound(): Promise<void> {
  const store = new SavedStore(service.dataDir);
  const ids: string[] = [];
  for (let nth = 0; nth < stopped; nth += 1) {
    const id = await create({ size });
    accelerator = await acceleratorOf(await qemuPid(service.dataDir, id));
    for (let turn = 0; turn < 3; turn += 1) await chat(id);
    await verb(id, 'stop');
    ids.push(id);
  }
  const plainMib = await diskMib(ids);
  const [quick] = ids as [string];
  const startMs = await tookMs(() => verb(quick, 'start'));
  await verb(quick, 'stop');
  const packMs: number[] = [];
  for (const id of ids) packMs.push(await tookMs(() => store.pack(restOf(id), AbortSignal.timeout(120_000))));
  const packedMib = await diskMib(ids);
  const packedStartMs = await tookMs(() => verb(quick, 'start'));
  rests.push(['as it is', plainMib, startMs], [`packed in ${millis(median(packMs))} ms`, packedMib, packedStartMs]);
  await remove(...ids);
}

/** The middle of the disk of each, in MiB: its machine at rest, and whatever its folder still has. */
async function diskMib(ids: readonly string[]): Promise<number> {
  const each = ids.map(async (id) => {
    const folders = [join('saved', restOf(id)), join('vms', id)].map((folder) => join(service.dataDir, folder));
    const { stdout } = await run('du', ['-scm', ...folders.filter((folder) => existsSync(folder))]);
    return Number.parseInt(stdout.trimEnd().split('\n').at(-1)!, 10);
  });
  return median(await Promise.all(each));
}

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Forks of one snapshot, whose memory is a file that all map. */
async function forksOf(parent: string): Promise<() => Promise<string>> {
  const { data } = (await call('GET', `/agents/${parent}/snapshots?kind=fork`)) as {
    readonly data: readonly { readonly id: string }[];
  };
  const snapshot = data[0]!.id;
  return async () => {
    const made = (await call('POST', `/agents/${parent}/fork`, { count: 1, snapshot })) as {
      readonly data: readonly { readonly id: string }[];
    };
    return made.data[0]!.id;
  };
}

async function bootOne(): Promise<string> {
  const id = await create({ size });
  await chat(id);
  await service.call('POST', `/agents/${id}/restart?wait=false`);
  const deadline = performance.now() + bootMs;
  for (let status = ''; status !== 'running';) {
    if (performance.now() > deadline) throw new Error('a boot takes too long');
    const path = `/agents/${id}?wait_for=running&timeout=300`;
    ({ status } = (await call('GET', path)) as { readonly status: string });
  }
  return id;
}

async function measureKind(name: string, count: number, make: () => Promise<string>): Promise<Kind[]> {
  await sleep(2_000);
  const before = await memAvailableMib();
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const id = await make();
    ids.push(id);
    await chat(id);
    await verb(id, 'pause');
    console.error(`${name}: ${nth + 1} of ${count}`);
  }
  const kinds = [await look(name, before, ids)];
  if (values['page-out']) {
    const tookMs = await pageOut(ids);
    kinds.push(await look(`${name}, paged out in ${millis(tookMs)} ms each`, before, ids));
  }
  await remove(...ids);
  return kinds;
}

/** Measures agents that are paused, and pauses those again that it wakes. */
async function look(name: string, beforeMib: number, ids: readonly string[]): Promise<Kind> {
  await sleep(2_000);
  const fallMib = (beforeMib - (await memAvailableMib())) / ids.length;
  const pids = await Promise.all(ids.map((id) => qemuPid(service.dataDir, id)));
  const middle = async (of: (pid: number) => Promise<number>): Promise<number> =>
    median(await Promise.all(pids.map(of)));
  const own = {
    privateMib: await middle(privateMib),
    pssMib: await middle(pssMib),
    swappedMib: await middle(swappedMib),
  };
  const woken: number[] = [];
  for (const id of ids.slice(0, 3)) {
    const began = performance.now();
    await chat(id);
    woken.push(performance.now() - began);
    await verb(id, 'pause');
  }
  return { name, count: ids.length, fallMib, ...own, wokenMs: median(woken) };
}

/** Pages out the agents one after the other, as Lodge does, and returns the middle time. */
async function pageOut(ids: readonly string[]): Promise<number> {
  const groups = await openCgroups(service.instance);
  const took: number[] = [];
  for (const id of ids) {
    const began = performance.now();
    await groups.pageOut(id, AbortSignal.timeout(120_000));
    took.push(performance.now() - began);
  }
  return median(took);
}

function print(): void {
  const { name, version } = measured.runtime;
  const load = loadavg().map((each) => each.toFixed(1));
  console.log(`# density, ${name} ${version}, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(
    `${cpus().length} cores (${cpus()[0]!.model}), accelerator ${accelerator}, load ${load.join(', ')}, ${size}.\n`,
  );
  const fall = 'fall of available memory, MiB each';
  const head = ['paused agents', fall, 'private, MiB', 'PSS, MiB', 'in swap, MiB', 'first chat, ms'];
  const rows = kinds.map((kind) => [
    `${kind.count} ${kind.name}`,
    ...[kind.fallMib, kind.privateMib, kind.pssMib, kind.swappedMib].map((mib) => String(Math.round(mib))),
    millis(kind.wokenMs),
  ]);
  if (rows.length > 0) console.log(`${table(head, rows)}\n`);
  const cells = rests.map(([form, mib, ms]) => [form, String(mib), ((mib * 1000) / 1024).toFixed(0), millis(ms)]);
  if (cells.length > 0) {
    console.log(table([`${stopped} stopped agents`, 'disk, MiB each', 'GiB for 1,000', 'start, ms'], cells));
  }
}
