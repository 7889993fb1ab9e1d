/**
 * The host's memory that a paused agent takes: the fall of what is available over several of them, one kind after another:
 *   clones of the template; forks of one live agent, which share the memory of one file; agents that were booted from their
 *     disks and share nothing.
 * One agent of the kind stays awake meanwhile, so that the pages which all share are there before. Each answers a chat, then it
 * is paused. The model is a stub that answers at once.
 *
 *   node_modules/.bin/node benchmarks/density.ts [--runtime openclaw] [--agents 20] [--booted 2] [--size small]
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { qemuPid } from '../tests/e2e/guest-memory.ts';
import { acceleratorOf, median, memAvailableMib, millis, privateMib, pssMib, table } from './figures.ts';
import { measure } from './runtime.ts';
import { callsOf } from './saved-calls.ts';

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'openclaw' },
    agents: { type: 'string', default: '20' },
    booted: { type: 'string', default: '2' },
    size: { type: 'string', default: 'small' },
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
  /** Milliseconds until a paused one has answered a chat. */
  readonly wokenMs: number;
}

const measured = await measure(values.runtime, { LODGE_MAX_RUNNING: '1000', LODGE_MEMORY_OVERCOMMIT: '16' });
const { service } = measured;
const { chat, create, call, fork, remove, verb } = callsOf(measured);
const kinds: Kind[] = [];
let accelerator = '';
try {
  await measured.ready;
  const first = await create({ size });
  accelerator = await acceleratorOf(await qemuPid(service.dataDir, first));
  await chat(first);
  kinds.push(await measureKind('clones', agents, () => create({ size })));
  // From three on they share; the first of them stays awake.
  const [awake, ...others] = (await fork(first, 3)) as [string, ...string[]];
  await remove(...others);
  await chat(awake);
  kinds.push(await measureKind('forks', agents, await forksOf(first)));
  await remove(first, awake);
  if (booted > 0) kinds.push(await measureKind('booted from their disks', booted, bootOne));
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

async function measureKind(name: string, count: number, make: () => Promise<string>): Promise<Kind> {
  await sleep(2_000);
  const before = await memAvailableMib();
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const id = await make();
    ids.push(id);
    await chat(id);
    await verb(id, 'pause');
  }
  await sleep(2_000);
  const fallMib = (before - (await memAvailableMib())) / count;
  const pids = await Promise.all(ids.map((id) => qemuPid(service.dataDir, id)));
  const own = median(await Promise.all(pids.map(privateMib)));
  const pss = median(await Promise.all(pids.map(pssMib)));
  const woken: number[] = [];
  for (const id of ids.slice(0, 3)) {
    const began = performance.now();
    await chat(id);
    woken.push(performance.now() - began);
    await verb(id, 'pause');
  }
  await remove(...ids);
  return { name, count, fallMib, privateMib: own, pssMib: pss, wokenMs: median(woken) };
}

function print(): void {
  const { name, version } = measured.runtime;
  const load = loadavg().map((each) => each.toFixed(1));
  console.log(`# density, ${name} ${version}, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(
    `${cpus().length} cores (${cpus()[0]!.model}), accelerator ${accelerator}, load ${load.join(', ')}, ${size}.\n`,
  );
  const head = ['paused agents', 'fall of available memory, MiB each', 'private, MiB', 'PSS, MiB', 'first chat, ms'];
  const rows = kinds.map((kind) => [
    `${kind.count} ${kind.name}`,
    ...[kind.fallMib, kind.privateMib, kind.pssMib].map((mib) => String(Math.round(mib))),
    millis(kind.wokenMs),
  ]);
  console.log(table(head, rows));
}
