/**
 * A create from the request to the answering VM: it makes everything, or, when it fails, leaves only what was there before.
 */
import { keptPace, publicEgress } from '@lodge/domain';
import { guestClient, newCredential } from '@lodge/guest';
import { VmError } from '@lodge/ports';
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
import { pageThread } from '../saved/snapshot/snapshot.ts';
import type { LoadableSnapshot } from '../saved/snapshot/snapshot.ts';
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
const keptOfOwn = { clone: 'nothing', boot: 'disk', snapshot: 'snapshot' } as const;
const keptBy = (from: VmRequest['from']): Kept => (typeof from === 'object' ? 'nothing' : keptOfOwn[from]);

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
      if (source.from === 'snapshot') await source.thread.end();
    }
  } finally {
    for (const release of releases) release();
  }
}

async function sourceOf(making: Making, request: VmRequest): Promise<VmSource> {
  const { from } = request;
  if (from === 'snapshot') return snapshotSource(making, request, await making.directory.snapshot.load());
  if (typeof from !== 'object') return { from };
  const { manifest, layers, snapshot } = await making.store.load(from.saved, from);
  if (manifest.templateId !== request.template.id) {
    throw new VmError(
      'failed',
      `the saved machine is over template ${manifest.templateId}, not ${request.template.id}`,
    );
  }
  if (!from.memory) return { from: 'boot', layers };
  if (snapshot === null) throw new VmError('snapshot_missing', `the saved machine ${from.saved} has no memory`);
  return { ...(await snapshotSource(making, request, snapshot)), layers };
}

async function snapshotSource(
  { templates, browserDisks, options }: Making,
  { agentId, template }: VmRequest,
  snapshot: LoadableSnapshot,
): Promise<VmSource> {
  const refused = (why: string): VmError => new VmError('snapshot_missing', `the snapshot cannot be loaded: ${why}`);
  if (snapshot.templateId !== template.id) {
    throw new VmError('failed', `the snapshot is over template ${snapshot.templateId}, not ${template.id}`);
  }
  const unlessThere = (error: Error): never => {
    throw refused(error.message);
  };
  const { stateKey, savedOn: here } = await templates
    .stateOf(template.id, snapshot.browser !== undefined)
    .catch(unlessThere);
  const difference = foreign(snapshot.savedOn, here);
  if (snapshot.stateKey !== stateKey || difference !== null) {
    const why = difference ?? 'it was saved by another emulator, or with other devices';
    throw new VmError('snapshot_foreign', `the snapshot cannot be loaded: ${why}`);
  }
  await templates.startable(template.id, snapshot.base === 'template' ? 'clone' : 'boot').catch(unlessThere);
  if (typeof snapshot.browser === 'string' && !(await browserDisks.has(snapshot.browser))) {
    throw refused('the disk of the browser that its guest knows is gone');
  }
  const since = updated(snapshot.savedOn, here);
  if (since !== null)
    options.log.info({ agent_id: agentId, since }, 'the host was updated since the snapshot was saved');
  return { from: 'snapshot', snapshot, thread: pageThread() };
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
    return vm;
  } catch (error) {
    await undo(making, keptBy(from), slot);
    throw error;
  }
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
  const facts = source.from === 'snapshot' ? source.snapshot.facts : null;
  const credential = newCredential();
  const browser = await browserDiskOf(source, template, browserDisks);
  let record: VmRecord = {
    version: 1,
    agentId,
    executionId,
    phase: 'creating',
    from: source.from,
    base: baseOf(source),
    machine,
    facts,
    templateId: template.template.id,
    ...(browser !== undefined && { browser }),
    slot,
    address: null,
    process: null,
    credential,
  };
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
    if (source.from === 'snapshot') await cgroups.limit(agentId, limitsOf(now, host.accelerator.accelerator));
    record = { ...record, phase: 'running', address, machine: now };
    await directory.write(record);
    await directory.syncRecord();
    throwIfAborted(signal);
    const { process, qmp, witness } = started;
    watch.add({ agentId, executionId, process, qmp, witness });
    void directory.snapshot.sweep();
    return { vm: { agentId, executionId, address, machine: now, facts }, timings };
  } catch (error) {
    const failure = await withDeath(started, error);
    started.witness.expectEnd();
    started.qmp.close();
    throw failure;
  }
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
    case 'snapshot':
      return source.snapshot.browser === null ? disks.current() : source.snapshot.browser;
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
  const address = vm.namespace.guestAddress;
  const earlier = knownBefore(source, credential);
  const before = guestClient({ address, credential: async () => earlier, pace });
  const guest = guestClient({ address, credential: async () => credential, pace });
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
    case 'snapshot':
      return source.snapshot.credential ?? null;
  }
}
