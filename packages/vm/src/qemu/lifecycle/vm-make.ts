/**
 * A create from the request to the answering VM: it makes everything, or, when it fails, leaves only what was there before.
 */
import { keptPace, publicEgress } from '@lodge/domain';
import { dialTo, guestClient, newCredential } from '@lodge/guest';
import { restOf, VmError } from '@lodge/ports';
import type { Vm, VmRequest } from '@lodge/ports';
import type { Cgroups } from '../host/cgroup.ts';
import { bootVcpus } from '../machine/command-line.ts';
import { foreign, updated } from '../machine/saved-on.ts';
import type { QemuDriverOptions } from '../options.ts';
import { assertMachine, awaitVcpus, settleMemory } from '../machine/hotplug.ts';
import { endOf, withDeath } from '../machine/launch.ts';
import { bootId } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { moveDisk } from '../saved/backing.ts';
import { bottomOf } from '../saved/layers.ts';
import type { SavedStore } from '../saved/machine/saved-store.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';
import type { VmNumbers } from '../host/vm-numbers.ts';
import type { BrowserDisks } from '../saved/browser-disks.ts';
import type { LoadableMemory } from '../saved/machine/manifest.ts';
import { pageThread } from '../saved/snapshot/page-job.ts';
import type { StoredTemplate } from '../saved/template-shelf.ts';
import type { Templates } from './templates.ts';
import type { Kept } from './vm-remove.ts';
import { newIdentity, setGuestClock } from './vm-guest.ts';
import { baseOf, limitsOf, startVm } from './vm-start.ts';
import type { StartedVm, VmSource } from './vm-start.ts';
import { allSettledOrThrow, throwIfAborted } from '../../waiting.ts';
import type { ExitWatch } from '../machine/watch.ts';

export interface Making {
  readonly options: QemuDriverOptions;
  readonly slots: VmNumbers;
  readonly templates: Templates;
  readonly browserDisks: BrowserDisks;
  readonly store: SavedStore;
  readonly watch: ExitWatch;
  readonly cgroups: Cgroups;
  readonly directory: RunDirectory;
  /** Ends the agent's VM. Returns the slot that is free now. */
  readonly takeAway: (keep: Kept) => Promise<number | null>;
}

/** Bounds from running processors to an answering daemon, each multiplied by the host's pace. */
const cloneTimeoutMs = 30_000;
const bootTimeoutMs = 300_000;
/**
 * Bound until clock, vCPUs and memory are as requested: the guest accepts a gigabyte in a fraction of a second, under
 * emulation in one or two.
 */
const machineTimeoutMs = 120_000;

/** The part that each kind of start needs, and that remains when the start fails. */
const keptBy = (from: VmRequest['from']): Kept => (from === 'boot' ? 'disk' : 'nothing');

export async function makeVm(making: Making, request: VmRequest, signal: AbortSignal): Promise<Vm> {
  const { templates, takeAway, store } = making;
  const { machine, from, template: wanted } = request;
  assertMachine(machine);
  const releases = [templates.hold(wanted.id), ...(typeof from === 'object' ? [store.hold(from.saved)] : [])];
  try {
    // A create that cannot begin changes nothing.
    const source = await sourceOf(making, request);
    try {
      await takeAway(keptBy(from));
      const template = await templates.startable(wanted.id, baseOf(source) === 'template' ? 'clone' : 'boot');
      if (machine.diskGib * 2 ** 30 > template.diskBytes) {
        throw new VmError('failed', `${machine.diskGib} GiB of disk are more than the template has`);
      }
      // The disk was made over a template elsewhere, before this one existed.
      const bottom = source.layers?.at(-1) ?? (from === 'clone' ? null : await bottomOf(making.directory.disk));
      if (bottom !== null) await moveDisk(bottom, template.files.disk);
      return await start(making, request, template, source, signal);
    } finally {
      if (source.from === 'memory') await source.thread.end();
    }
  } finally {
    for (const release of releases) release();
  }
}

/** Whether it is made from the agent's own machine at rest, whose place it takes once it is whole. */
function isFromRest({ agentId, from }: VmRequest): boolean {
  return typeof from === 'object' && from.saved === restOf(agentId);
}

async function sourceOf(making: Making, request: VmRequest): Promise<VmSource> {
  const { from } = request;
  if (typeof from !== 'object') return { from };
  const { manifest, layers, memory } = await making.store.load(from.saved, from);
  if (manifest.templateId !== request.template.id) {
    throw new VmError(
      'failed',
      `the saved machine is over template ${manifest.templateId}, not ${request.template.id}`,
    );
  }
  if (!from.memory) return { from: 'boot', layers };
  if (memory === null) throw new VmError('snapshot_missing', `the saved machine ${from.saved} has no memory`);
  return memorySource(making, request, memory, layers);
}

async function memorySource(
  { templates, browserDisks, options }: Making,
  { agentId, template }: VmRequest,
  memory: LoadableMemory,
  layers: readonly string[],
): Promise<VmSource> {
  const refused = (why: string): VmError => new VmError('snapshot_missing', `the memory cannot be loaded: ${why}`);
  const unlessThere = (error: Error): never => {
    throw refused(error.message);
  };
  const { stateKey, savedOn: here } = await templates
    .stateOf(template.id, memory.browser !== undefined)
    .catch(unlessThere);
  const difference = foreign(memory.savedOn, here);
  if (memory.stateKey !== stateKey || difference !== null) {
    const why = difference ?? 'it was saved by another emulator, or with other devices';
    throw new VmError('snapshot_foreign', `the memory cannot be loaded: ${why}`);
  }
  await templates.startable(template.id, memory.base === 'template' ? 'clone' : 'boot').catch(unlessThere);
  if (typeof memory.browser === 'string' && !(await browserDisks.has(memory.browser))) {
    throw refused('the disk of the browser that its guest knows is gone');
  }
  const since = updated(memory.savedOn, here);
  if (since !== null)
    options.log.info({ agent_id: agentId, since }, 'the host was updated since the machine was saved');
  return { from: 'memory', memory, layers, thread: pageThread() };
}

async function start(
  making: Making,
  request: VmRequest,
  template: StoredTemplate,
  source: VmSource,
  signal: AbortSignal,
): Promise<Vm> {
  const { options, templates, slots, cgroups } = making;
  const { agentId, from } = request;
  const started = performance.now();
  const host = await templates.vmHost(template, cgroups);
  throwIfAborted(signal);
  const slot = slots.claim();
  try {
    const { vm, timings } = await bringUp(making, request, { host, template, source, slot }, signal);
    const figures = { ...timings, total: Math.round(performance.now() - started) };
    options.log.info({ agent_id: agentId, from: source.from, address: vm.address, ms: figures }, 'VM made');
    if (isFromRest(request)) await freeRest(making);
    return vm;
  } catch (error) {
    await undo(making, keptBy(from), slot);
    throw error;
  }
}

/** Frees the machine at rest, whose place the VM has taken. One that stays is freed before the next one is written. */
async function freeRest({ store, options, directory: { agentId } }: Making): Promise<void> {
  await store.drop(restOf(agentId)).catch((error: unknown) => {
    options.log.error({ agent_id: agentId, err: error }, 'a machine at rest is not freed');
  });
}

async function undo({ takeAway, slots, options, directory }: Making, keep: Kept, slot: number): Promise<void> {
  try {
    // A record that could not be written does not name the slot.
    if ((await takeAway(keep)) !== slot) slots.release(slot);
  } catch (error) {
    const { agentId } = directory;
    options.log.error({ agent_id: agentId, err: error }, 'a VM that failed to start is only partly removed');
  }
}

interface Toolchain {
  readonly host: Awaited<ReturnType<Templates['vmHost']>>;
  readonly template: StoredTemplate;
  readonly source: VmSource;
  readonly slot: number;
}

async function bringUp(
  { directory, options, watch, cgroups, browserDisks }: Making,
  request: VmRequest,
  { host, template, source, slot }: Toolchain,
  signal: AbortSignal,
): Promise<{ readonly vm: Vm; readonly timings: Readonly<Record<string, number>> }> {
  const { agentId, executionId, machine } = request;
  const credential = newCredential();
  const browser = await browserDiskOf(source, template, browserDisks);
  let record = newRecord(request, { template, source, slot }, credential, browser);
  const { facts } = record;
  await directory.write(record);
  const onSpawned = async (process: ProcessMark): Promise<void> => {
    record = { ...record, process, boot: bootId() };
    await directory.write(record);
  };
  const egress = request.egress ?? publicEgress;
  const uid = options.uidBase + slot;
  const backing = browserDisks.backing(browser);
  const plan = { directory, slot, uid, machine, template, source, browser: backing, egress, credential, onSpawned };
  const started = await startVm(host, plan, signal);
  const address = started.namespace.guestAddress;
  try {
    const timings = { ...started.timings };
    const [memoryMib] = await allSettledOrThrow([
      greet(started, { request, source, credential, pace: keptPace(template.template.pace), timings }, signal),
      directory.syncDisk(),
    ]);
    const now = { ...machine, memoryMib };
    if (source.from === 'memory') await cgroups.limit(agentId, limitsOf(now, host.accelerator.accelerator));
    record = { ...record, phase: 'running', address, machine: now };
    await directory.write(record);
    await directory.syncRecord();
    throwIfAborted(signal);
    const { process, qmp, witness } = started;
    watch.add({ agentId, executionId, process, qmp, witness });
    return { vm: { agentId, executionId, address, machine: now, facts }, timings };
  } catch (error) {
    const failure = await withDeath(started, error);
    started.witness.expectEnd();
    started.qmp.close();
    throw failure;
  }
}

function newRecord(
  request: VmRequest,
  { template, source, slot }: Omit<Toolchain, 'host'>,
  credential: string,
  browser: string | null | undefined,
): VmRecord {
  const { agentId, executionId, machine } = request;
  return {
    version: 1,
    agentId,
    executionId,
    phase: 'creating',
    from: source.from,
    base: baseOf(source),
    machine,
    facts: source.from === 'memory' ? source.memory.facts : null,
    templateId: template.template.id,
    ...(browser !== undefined && { browser }),
    ...(isFromRest(request) && { isOverRest: true }),
    slot,
    address: null,
    process: null,
    credential,
  };
}

/**
 * The browser's disk that the machine begins with, as its record says it. Saved state has the devices that it was saved
 * with, and a guest that saw a disk goes on with the same one. Any other sees the present disk, if there is one.
 */
async function browserDiskOf(
  source: VmSource,
  template: StoredTemplate,
  disks: BrowserDisks,
): Promise<string | null | undefined> {
  switch (source.from) {
    case 'boot':
      return disks.current();
    case 'clone':
      return template.hasBrowser ? disks.current() : undefined;
    case 'memory':
      return source.memory.browser === null ? disks.current() : source.memory.browser;
  }
}

interface Greeting {
  readonly request: VmRequest;
  readonly source: VmSource;
  /** The new credential. */
  readonly credential: string;
  /** The host's pace. */
  readonly pace: number;
  readonly timings: Record<string, number>;
}

/**
 * Waits for the guest's daemon. One call gives it the time, its own randomness and identity, and the credential by which it
 * knows the host from then on, and lets the guest's processes go on. Then waits until the machine is as requested. Returns
 * its memory, MiB.
 */
async function greet(
  vm: StartedVm,
  { request: { agentId, machine, still = false }, source, credential, pace, timings }: Greeting,
  signal: AbortSignal,
): Promise<number> {
  const { from } = source;
  const dial = dialTo(vm.namespace.guestAddress);
  const earlier = knownBefore(source, credential);
  const before = guestClient({ dial, credential: async () => earlier, pace });
  const guest = guestClient({ dial, credential: async () => credential, pace });
  const either = AbortSignal.any([signal, endOf(vm)]);
  const started = performance.now();
  if (from === 'boot') await before.awaitHealth({ timeoutMs: bootTimeoutMs * pace, signal: either });
  // The clock comes before anything that the guest times; its kernel accepts memory meanwhile.
  const identity = newIdentity(agentId);
  const beginning = { claim: credential, identity, ...(still && { goOn: false }) };
  await setGuestClock(before, { timeoutMs: cloneTimeoutMs * pace, signal: either, ...beginning });
  // Processes that ran when the machine was saved had a moment since.
  if (still) await guest.freeze({ timeoutMs: cloneTimeoutMs * pace, signal: either });
  timings['daemon'] = Math.round(performance.now() - started);
  const wait = { timeoutMs: machineTimeoutMs * pace, signal: either };
  const growing = { qmp: vm.qmp, guest, machine, cpusOnline: from === 'clone' ? bootVcpus : null };
  const [, memoryMib] = await Promise.all([awaitVcpus(growing, wait), settleMemory(growing, wait)]);
  timings['machine'] = Math.round(performance.now() - started) - timings['daemon'];
  return memoryMib;
}

/**
 * The credential by which the daemon of a guest that has just gone on knows the host. A booted one got it from its kernel.
 */
function knownBefore(source: VmSource, credential: string): string | null {
  switch (source.from) {
    case 'clone':
      return null;
    case 'boot':
      return credential;
    case 'memory':
      return source.memory.credential ?? null;
  }
}
