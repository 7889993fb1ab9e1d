/**
 * Saves a VM that goes on. Its processes are frozen and it stands still while device state and own pages are written and its
 * disk gets a new top; then it goes on, and its memory and the layers beneath become the saved machine. A kill leaves the VM,
 * paused at worst, with one more layer or not.
 */
import { VmError } from '@lodge/ports';
import type { SaveRequest, Saving } from '@lodge/ports';
import { pushLayer, settleLayers, shortenChain } from '../machine/disk-layers.ts';
import { guestMemory } from '../machine/guest-memory.ts';
import { plugged } from '../machine/hotplug.ts';
import type { Plugged } from '../machine/hotplug.ts';
import { freezeLayer, namedChain } from '../saved/layers.ts';
import { writeListing } from '../saved/machine/listing.ts';
import type { SavedManifest } from '../saved/machine/manifest.ts';
import type { SavedDraft, SavedStore } from '../saved/machine/saved-store.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';
import type { SavedPages } from '../saved/snapshot/page-job.ts';
import { pageThread } from '../saved/snapshot/snapshot.ts';
import { throwIfAborted } from '../../waiting.ts';
import { runState } from './connections.ts';
import { setGuestClock } from './vm-guest.ts';
import { freezeAgent, saveDevices } from './vm-suspend.ts';
import type { SuspendWork } from './vm-suspend.ts';

export interface SaveWork extends Omit<SuspendWork, 'facts' | 'writeData'> {
  readonly store: SavedStore;
  readonly request: SaveRequest;
  /** Bound until a guest that goes on has its time, ms. */
  readonly clockTimeoutMs: number;
}

/** The parts that the VM left behind as it stood still. */
interface Left {
  readonly layers: readonly string[];
  readonly memory: { readonly pages: SavedPages; readonly plugged: Plugged } | null;
}

const syncTimeoutMs = 10_000;
const listingTimeoutMs = 20_000;

export async function saveRunning(work: SaveWork, signal: AbortSignal): Promise<Saving> {
  const { store, request, qmp, record } = work;
  await shortenChain(qmp, work.directory.disk, signal);
  const thread = request.memory ? pageThread() : null;
  const draft = await store.draft(request.id, request.memory ? work.uid : null);
  try {
    await thread?.ready();
    const { running } = await runState(qmp);
    if (running) await list(work, draft, signal);
    throwIfAborted(signal);
    const began = performance.now();
    const left = await whileStill(work, draft, thread, running, signal);
    const ms = Math.max(1, Math.round(performance.now() - began));
    const { templateId, machine, base, credential, browser, agentId, executionId } = record;
    const { stateKey, savedOn } = work;
    const known = { ...(credential !== undefined && { credential }), ...(browser !== undefined && { browser }) };
    const memory = left.memory && {
      pages: left.memory.pages,
      about: { base, stateKey, savedOn, plugged: left.memory.plugged, ...known },
      folder: work.directory.path,
    };
    const who = { id: request.id, agentId, executionId, templateId, machine, facts: request.facts };
    const manifest = await store.commit(draft, { ...who, layers: left.layers, memory });
    const saving = { ...(await sizesOf(store, manifest)), ms };
    work.log.info({ agent_id: agentId, saved: request.id, ...saving }, 'VM saved');
    return saving;
  } catch (error) {
    // The thread writes into the draft until it has ended.
    await thread?.end();
    await store.discard(draft);
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
  const record = await directory.read();
  const there = await store.manifest(request.id);
  if (there) {
    if (there.agentId === directory.agentId) return { ...(await sizesOf(store, there)), ms: 0 };
    throw new VmError('failed', `the saved machine ${request.id} is of another agent`);
  }
  const isAtRest = record?.phase === 'suspended' || record?.phase === 'disk';
  return isAtRest && record.executionId === executionId ? saveAtRest({ store, directory, record }, request) : null;
}

/** Saves a VM at rest: the files of its disk, and of its snapshot if it has one, get one more name. */
async function saveAtRest(
  {
    store,
    directory,
    record,
  }: { readonly store: SavedStore; readonly directory: RunDirectory; readonly record: VmRecord },
  request: SaveRequest,
): Promise<Saving> {
  const { agentId, executionId, templateId, machine } = record;
  const snapshot = request.memory && record.phase === 'suspended' ? await directory.snapshot.load() : null;
  const draft = await store.draft(request.id, null);
  try {
    const { layers } = await namedChain(directory.disk);
    await freezeLayer(layers[0]!);
    const facts = snapshot?.facts ?? request.facts;
    const contents = { id: request.id, agentId, executionId, templateId, machine, facts, layers };
    const manifest = await store.commitAtRest(draft, contents, snapshot, directory.path);
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
async function list({ request, guest, log, record }: SaveWork, draft: SavedDraft, signal: AbortSignal): Promise<void> {
  if (request.listed === undefined) return;
  const bound = AbortSignal.any([signal, AbortSignal.timeout(listingTimeoutMs * guest.pace)]);
  await writeListing(guest, request.listed, draft.listingPath, bound).catch(async (error: unknown) => {
    throwIfAborted(signal);
    log.warn({ agent_id: record.agentId, err: error }, 'a VM is saved without a listing');
    await draft.clearListing();
  });
}

/** Stops the VM, writes what it is, and lets it go on as it was, whatever fails. */
async function whileStill(
  work: SaveWork,
  draft: SavedDraft,
  thread: ReturnType<typeof pageThread> | null,
  running: boolean,
  signal: AbortSignal,
): Promise<Left> {
  const { qmp, directory, uid } = work;
  try {
    if (thread) await freezeAgent(work, signal);
    else if (running) await syncGuest(work);
    await qmp.execute('stop');
    const memory = thread && (await saveMemory(work, draft, thread, signal));
    throwIfAborted(signal);
    return { memory, layers: await pushLayer(qmp, directory.disk, uid) };
  } catch (error) {
    // A full disk must have room again before the guest writes. The thread writes into the draft until it has ended.
    await thread?.end();
    await work.store.discard(draft);
    throw error;
  } finally {
    if (running) await goOn(work);
  }
}

async function saveMemory(
  { qmp, process, record: { base } }: SaveWork,
  draft: SavedDraft,
  thread: ReturnType<typeof pageThread>,
  signal: AbortSignal,
): Promise<NonNullable<Left['memory']>> {
  await saveDevices(qmp, draft.devicesPath);
  const has = await plugged(qmp);
  const regions = await guestMemory(qmp, process.pid, { base, pluggedMib: has.memoryMib });
  const job = { do: 'save', pid: process.pid, regions, path: draft.pagesPath, isSynced: false } as const;
  return { pages: await thread.run<SavedPages>(job, signal), plugged: has };
}

/** Data that the guest knows to be on its disk is there all the same when it does not answer. */
async function syncGuest({ guest, log, record }: SaveWork): Promise<void> {
  await guest.sync(false, { timeoutMs: syncTimeoutMs * guest.pace }).catch((error: unknown) => {
    log.warn({ agent_id: record.agentId, err: error }, 'a disk is saved although its guest did not write it out');
  });
}

async function goOn({ qmp, guest, directory, clockTimeoutMs }: SaveWork): Promise<void> {
  // A guest that runs while nobody knows which file it writes would lose what it wrote.
  await settleLayers(qmp, directory.disk);
  await qmp.execute('cont');
  await setGuestClock(guest, { timeoutMs: clockTimeoutMs, signal: new AbortController().signal });
}
