/**
 * The host's memory that a paused agent takes: the fall of what is available over several of them, one kind after another:
 *   clones of the template; forks of one live agent, which share the memory of one file; agents that were booted from their
 *     disks and share nothing.
 * With `--page-out` each kind is paged out too, once its pauses are measured; the host must have swap (doctor says which).
 * One agent of the kind stays awake meanwhile, so that the pages which all share are there before. Each answers a chat, then it
 * is paused. The model is a stub that answers at once.
 *
 *   node_modules/.bin/node benchmarks/density.ts [--runtime openclaw] [--agents 20] [--booted 2] [--size small] [--page-out]
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCgroups, swapAreas } from '@lodge/vm';
import { qemuPid } from '../tests/e2e/guest-memory.ts';
import { acceleratorOf, median, memAvailableMib, millis, privateMib, pssMib, swappedMib, table } from './figures.ts';
import { measure } from './runtime.ts';
import { callsOf } from './saved-calls.ts';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'openclaw' },
    agents: { type: 'string', default: '20' },
    booted: { type: 'string', default: '2' },
    size: { type: 'string', default: 'small' },
    'page-out': { type: 'boolean', default: false },
  },
});
const agents = Number(values.agents);
const booted = Number(values.booted);
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
let accelerator = '';
try {
  await measured.ready;
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
  print();
} catch (error) {
  console.error(service.output);
  throw error;
} finally {
  await measured.close();
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
  console.log(table(head, rows));
}
