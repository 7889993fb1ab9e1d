/**
 * Saves a VM. Its processes are frozen and it stands still while device state and own pages are written. One that goes on gets a
 * new top on its disk first, and its memory and the layers beneath become the saved machine. One that comes to rest writes
 * nothing any more, so its top is a layer of the saved machine as it is. A kill leaves the VM, paused at worst, with one more
 * layer or not, and the saved machine whole or not at all.
 */
import { restOf, VmError } from '@lodge/ports';
import type { Log, RestRequest, SaveRequest, Saving } from '@lodge/ports';
import type { GuestClient } from '@lodge/guest';
import { syncFile } from '../host/files.ts';
import type { ProcessMark } from '../host/process.ts';
import { pushLayer, settleLayers, shortenChain } from '../machine/disk-layers.ts';
import { guestMemory } from '../machine/guest-memory.ts';
import { plugged } from '../machine/hotplug.ts';
import type { Plugged } from '../machine/hotplug.ts';
import type { Qmp } from '../machine/qmp.ts';
import type { SavedOn } from '../machine/saved-on.ts';
import { saveData } from '../saved/guest-data.ts';
import { freezeLayer, namedChain, topOf } from '../saved/layers.ts';
import { writeListing } from '../saved/machine/listing.ts';
import type { SavedManifest } from '../saved/machine/manifest.ts';
import type { SavedDraft, SavedStore } from '../saved/machine/saved-store.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';
import { pageThread } from '../saved/snapshot/page-job.ts';
import type { SavedPages, SaveJob } from '../saved/snapshot/page-job.ts';
import { allSettledOrThrow, throwIfAborted } from '../../waiting.ts';
import { runState } from './connections.ts';
import { setGuestClock } from './vm-guest.ts';
import { freezeAgent, saveDevices } from './vm-freeze.ts';

/** A VM that is saved, found running or paused. */
export interface SavedVm {
  readonly directory: RunDirectory;
  readonly record: VmRecord;
  readonly process: ProcessMark;
  readonly qmp: Qmp;
  readonly guest: GuestClient;
  readonly log: Log;
  readonly uid: number;
  /** The key that the device state belongs to, see `MemoryFacts`. */
  readonly stateKey: string;
  readonly savedOn: SavedOn;
  readonly store: SavedStore;
  /** Bound until a guest that goes on has its time, ms. */
  readonly clockTimeoutMs: number;
}

/** A wish with what both kinds of it have: the facts, and the work beside the memory. */
interface Wish {
  readonly id: string;
  readonly memory: boolean;
  readonly facts: SaveRequest['facts'];
  /** Writes further contents while the guest still runs. */
  readonly before: (draft: SavedDraft, isRunning: boolean) => Promise<void>;
  /** Returns the layers that are saved, of a VM that stands still. */
  readonly layers: () => Promise<readonly string[]>;
  /** Whether the VM goes on as it was. */
  readonly goesOn: boolean;
  readonly isHasty?: true;
}

/** The parts that the VM left behind as it stood still. */
interface Left {
  readonly layers: readonly string[];
  readonly memory: { readonly pages: SavedPages; readonly plugged: Plugged } | null;
}

type PageThread = ReturnType<typeof pageThread>;

const syncTimeoutMs = 10_000;
const listingTimeoutMs = 20_000;

/** Saves a VM that goes on as it was. */
export async function saveRunning(vm: SavedVm, request: SaveRequest, signal: AbortSignal): Promise<Saving> {
  const { qmp, directory, uid } = vm;
  await shortenChain(qmp, directory.disk, signal);
  return save(vm, signal, {
    ...request,
    before: async (draft, isRunning) => (isRunning ? list(vm, request.listed, draft, signal) : undefined),
    layers: () => pushLayer(qmp, directory.disk, uid),
    goesOn: true,
  });
}

/** Saves a VM that comes to rest: when this resolves it stands still, and has no use any more. */
export async function saveToRest(
  vm: SavedVm,
  { facts, data }: RestRequest,
  floorMib: number,
  signal: AbortSignal,
): Promise<Saving> {
  const { qmp, directory, guest } = vm;
  await shortenChain(qmp, directory.disk, signal);
  return save(vm, signal, {
    id: restOf(directory.agentId),
    memory: true,
    facts,
    before: async ({ dataPath }) => data && saveData(guest, { ...data, floorMib }, dataPath, signal),
    layers: () => topped(directory.disk),
    goesOn: false,
  });
}

/** All layers of a disk that nobody writes any more. */
async function topped(disk: string): Promise<readonly string[]> {
  const { layers } = await namedChain(disk);
  await freezeLayer(layers[0]!);
  return layers;
}

async function save(vm: SavedVm, signal: AbortSignal, wish: Wish): Promise<Saving> {
  const { store, qmp, record, uid } = vm;
  const thread = wish.memory ? pageThread() : null;
  const draft = await store.draft(wish.id, wish.memory ? uid : null);
  let standsStill = false;
  try {
    await thread?.ready();
    const { running } = await runState(qmp);
    // A guest that goes on stands still for what it changes during this copy.
    const isAhead = running && wish.goesOn;
    const ahead = isAhead ? copyAhead({ ...vm, wish }, draft, thread, signal) : Promise.resolve();
    await allSettledOrThrow([wish.before(draft, running), ahead]);
    // A stop stores the disk's last writes, and the guest stands still for as long as that takes.
    await syncFile(await topOf(vm.directory.disk));
    throwIfAborted(signal);
    const began = performance.now();
    const left = await whileStill({ ...vm, wish }, draft, thread, running, signal);
    standsStill = running && !wish.goesOn;
    const ms = Math.max(1, Math.round(performance.now() - began));
    const { templateId, machine, base, credential, browser, agentId, executionId } = record;
    const { stateKey, savedOn } = vm;
    const known = { ...(credential !== undefined && { credential }), ...(browser !== undefined && { browser }) };
    const memory = left.memory && {
      pages: left.memory.pages,
      about: { base, stateKey, savedOn, plugged: left.memory.plugged, ...known },
      folder: vm.directory.path,
    };
    const who = { id: wish.id, agentId, executionId, templateId, machine, facts: wish.facts };
    const hasty = wish.isHasty && { isHasty: true as const };
    const manifest = await store.commit(draft, { ...who, layers: left.layers, memory, ...hasty });
    const saving = { ...(await sizesOf(store, manifest)), ms };
    vm.log.info({ agent_id: agentId, saved: wish.id, ...saving }, 'VM saved');
    return saving;
  } catch (error) {
    // The thread writes into the draft until it has ended.
    await thread?.end();
    await store.discard(draft);
    if (standsStill) {
      // It may have its name already.
      await store.drop(wish.id);
      await goOn(vm);
    }
    throw error;
  } finally {
    await thread?.end();
  }
}

/** Saves a VM that is at rest, or finds it saved already; null when it is at work and not saved. */
export async function savedBefore(
  { directory, store }: { readonly directory: RunDirectory; readonly store: SavedStore },
  executionId: string,
  request: SaveRequest,
): Promise<Saving | null> {
  const { agentId } = directory;
  const there = await store.manifest(request.id);
  if (there) {
    if (there.agentId === agentId) return { ...(await sizesOf(store, there)), ms: 0 };
    throw new VmError('failed', `the saved machine ${request.id} is of another agent`);
  }
  const record = await directory.read();
  if (record === null && (await store.rest(agentId))?.executionId === executionId) {
    await store.copy(restOf(agentId), request.id, request);
    return { ...(await sizesOf(store, (await store.manifest(request.id))!)), ms: 0 };
  }
  if (record?.phase !== 'disk' || record.executionId !== executionId) return null;
  return saveDisk({ store, directory, record }, request);
}

/** Saves the disk of a VM that ended: its layers get one more name. */
async function saveDisk(
  {
    store,
    directory,
    record,
  }: { readonly store: SavedStore; readonly directory: RunDirectory; readonly record: VmRecord },
  request: SaveRequest,
): Promise<Saving> {
  const { agentId, executionId, templateId, machine } = record;
  const draft = await store.draft(request.id, null);
  try {
    const layers = await topped(directory.disk);
    const who = { id: request.id, agentId, executionId, templateId, machine, facts: request.facts };
    const manifest = await store.commit(draft, { ...who, layers, memory: null });
    return { ...(await sizesOf(store, manifest)), ms: 0 };
  } catch (error) {
    await store.discard(draft);
    throw error;
  }
}

export async function sizesOf(
  store: SavedStore,
  manifest: SavedManifest,
): Promise<Pick<Saving, 'bytes' | 'diskBytes'>> {
  const { memory } = manifest;
  return {
    bytes: memory === null ? 0 : memory.devices.bytes + memory.pages.bytes + (await store.wholeBytes(manifest)),
    diskBytes: await store.layerBytes(manifest),
  };
}

/** A guest that does not tell its files is saved without a listing. */
async function list(
  { guest, log, record }: SavedVm,
  folder: string | undefined,
  draft: SavedDraft,
  signal: AbortSignal,
): Promise<void> {
  if (folder === undefined) return;
  const bound = AbortSignal.any([signal, AbortSignal.timeout(listingTimeoutMs * guest.pace)]);
  await writeListing(guest, folder, draft.listingPath, bound).catch(async (error: unknown) => {
    throwIfAborted(signal);
    log.warn({ agent_id: record.agentId, err: error }, 'a VM is saved without a listing');
    await draft.clearListing();
  });
}

interface SaveWork extends SavedVm {
  readonly wish: Wish;
}

/** Stops the VM and writes what it is. It goes on as it was if it is to, or if anything fails. */
async function whileStill(
  work: SaveWork,
  draft: SavedDraft,
  thread: PageThread | null,
  running: boolean,
  signal: AbortSignal,
): Promise<Left> {
  const { qmp, wish } = work;
  let isDone = false;
  try {
    if (thread) await freezeAgent(work, signal);
    else if (running) await syncGuest(work);
    await qmp.execute('stop');
    const memory = thread && (await saveMemory(work, draft, thread, signal));
    throwIfAborted(signal);
    const layers = await wish.layers();
    isDone = true;
    return { memory, layers };
  } catch (error) {
    // A full disk must have room again before the guest writes. The thread writes into the draft until it has ended.
    await thread?.end();
    await work.store.discard(draft);
    throw error;
  } finally {
    if (running && (wish.goesOn || !isDone)) await goOn(work);
  }
}

async function copyAhead(
  work: SaveWork,
  draft: SavedDraft,
  thread: PageThread | null,
  signal: AbortSignal,
): Promise<void> {
  if (thread) await thread.run((await pagesJob(work, 'ahead', draft)).job, signal);
}

async function saveMemory(
  work: SaveWork,
  draft: SavedDraft,
  thread: PageThread,
  signal: AbortSignal,
): Promise<NonNullable<Left['memory']>> {
  await saveDevices(work.qmp, draft.devicesPath);
  const { job, has } = await pagesJob(work, 'save', draft);
  return { pages: await thread.run<SavedPages>(job, signal), plugged: has };
}

async function pagesJob(
  { qmp, process: { pid }, record: { base }, wish }: SaveWork,
  what: SaveJob['do'],
  draft: SavedDraft,
): Promise<{ readonly job: SaveJob; readonly has: Plugged }> {
  const has = await plugged(qmp);
  const regions = await guestMemory(qmp, pid, { base, pluggedMib: has.memoryMib });
  // A guest that goes on does not wait for the disk. While one comes to rest, the disk stores pages as others are copied.
  return { job: { do: what, pid, regions, path: draft.pagesPath, isSynced: !wish.goesOn }, has };
}

/** Data that the guest knows to be on its disk is there all the same when it does not answer. */
async function syncGuest({ guest, log, record }: SavedVm): Promise<void> {
  await guest.sync(false, { timeoutMs: syncTimeoutMs * guest.pace }).catch((error: unknown) => {
    log.warn({ agent_id: record.agentId, err: error }, 'a disk is saved although its guest did not write it out');
  });
}

async function goOn({ qmp, guest, directory, clockTimeoutMs }: SavedVm): Promise<void> {
  // A guest that runs while nobody knows which file it writes would lose what it wrote.
  await settleLayers(qmp, directory.disk);
  await qmp.execute('cont');
  await setGuestClock(guest, { timeoutMs: clockTimeoutMs, signal: new AbortController().signal });
}
