/**
 * Writes a VM's snapshot: processes frozen, VM stopped, device state, own pages, manifest, rename. Until the rename the VM
 * is whole and frozen, and any caller may let it go on. After it the snapshot is the agent, and the process has no use any
 * more.
 */
import { VmError } from '@lodge/ports';
import type { GuestClient } from '@lodge/guest';
import type { Log, RuntimeFacts, Suspension } from '@lodge/ports';
import { guestMemory } from '../machine/guest-memory.ts';
import { plugged } from '../machine/hotplug.ts';
import type { ProcessMark } from '../host/process.ts';
import type { SavedOn } from '../machine/saved-on.ts';
import type { Qmp } from '../machine/qmp.ts';
import { QmpError } from '../machine/qmp.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';
import type { SavedPages } from '../saved/snapshot/page-job.ts';
import { isFull, pageThread } from '../saved/snapshot/snapshot.ts';
import { throwIfAborted } from '../../waiting.ts';
import { runState } from './connections.ts';
import { agentFreezeMs, freezeGuest } from './vm-guest.ts';

export interface SuspendWork {
  readonly directory: RunDirectory;
  readonly record: VmRecord;
  readonly process: ProcessMark;
  readonly qmp: Qmp;
  readonly guest: GuestClient;
  readonly log: Log;
  readonly uid: number;
  /** The key that the device state belongs to, see `SnapshotFacts`. */
  readonly stateKey: string;
  readonly savedOn: SavedOn;
  readonly facts: RuntimeFacts;
  /** Writes further contents of the snapshot, while the guest still runs. */
  readonly writeData?: (path: string) => Promise<void>;
}

type FreezeWork = Pick<SuspendWork, 'qmp' | 'guest' | 'log'> & { readonly record: Pick<VmRecord, 'agentId'> };

/** Milliseconds of each step, for the log. */
export type SuspendTimings = Record<'freeze' | 'devices' | 'pages' | 'commit', number>;

const saveTimeoutMs = 120_000;

/**
 * Resolves with the snapshot on the disk. After a rejection no part of one is left, and the VM is frozen if it got that far.
 */
export async function writeSnapshot(
  work: SuspendWork,
  signal: AbortSignal,
): Promise<Suspension & { readonly timings: SuspendTimings }> {
  const { directory, qmp } = work;
  const thread = pageThread();
  try {
    await thread.ready();
    throwIfAborted(signal);
    const draft = await directory.snapshot.draft(work.uid);
    await work.writeData?.(draft.dataPath);
    throwIfAborted(signal);
    const marks = [performance.now()];
    await freezeAgent(work, signal);
    marks.push(performance.now());
    await qmp.execute('stop');
    await saveDevices(qmp, draft.devicesPath);
    marks.push(performance.now());
    const { base } = work.record;
    const has = await plugged(qmp);
    const regions = await guestMemory(qmp, work.process.pid, { base, pluggedMib: has.memoryMib });
    const job = { do: 'save', pid: work.process.pid, regions, path: draft.pagesPath, isSynced: true } as const;
    const pages = await thread.run<SavedPages>(job, signal);
    marks.push(performance.now());
    const { templateId, machine } = work.record;
    const { stateKey, savedOn, facts } = work;
    throwIfAborted(signal);
    const { credential, browser } = work.record;
    const known = { ...(credential !== undefined && { credential }), ...(browser !== undefined && { browser }) };
    const about = { templateId, base, stateKey, savedOn, machine, plugged: has, facts, ...known };
    const bytes = await directory.snapshot.commit(draft, pages, about);
    marks.push(performance.now());
    const [begun, frozen, devices, copied, ended] = marks.map(Math.round) as [number, number, number, number, number];
    const timings = {
      freeze: frozen - begun,
      devices: devices - frozen,
      pages: copied - devices,
      commit: ended - copied,
    };
    return { bytes, ms: Math.max(1, ended - begun), timings };
  } catch (error) {
    // The thread writes into the draft until it has ended.
    await thread.end();
    await directory.snapshot.discardDraft();
    throw error;
  } finally {
    await thread.end();
  }
}

/**
 * Freezes an agent's guest. A VM that stands still is saved as it is: its stopper (the disk's keeper, for one) does not want
 * it to write. Its processes run on when it is started, before its kernel's random numbers are renewed.
 */
export async function freezeAgent(
  { record: { agentId }, qmp, guest, log }: FreezeWork,
  signal: AbortSignal,
): Promise<void> {
  const about = { agent_id: agentId };
  const { running, status } = await runState(qmp);
  if (running) await freezeGuest(guest, { timeoutMs: agentFreezeMs(guest.pace), signal, log, about });
  else log.info({ ...about, status }, 'a VM is saved as it stands still');
}

/** QEMU writes the file itself. It does not say why it could not. */
export async function saveDevices(qmp: Qmp, path: string): Promise<void> {
  try {
    await qmp.execute('xen-save-devices-state', { filename: path, live: false }, { timeoutMs: saveTimeoutMs });
  } catch (error) {
    if (error instanceof QmpError && (await isFull(path))) {
      throw new VmError('disk_full', 'no room for the device state', { cause: error });
    }
    throw error;
  }
}
