/** A VM that is about to be saved stands still: its processes are frozen, and its devices are written. */
import { VmError } from '@lodge/ports';
import type { GuestClient } from '@lodge/guest';
import type { Log } from '@lodge/ports';
import { freeSpace } from '../host/capacity.ts';
import type { Qmp } from '../machine/qmp.ts';
import { QmpError } from '../machine/qmp.ts';
import { runState } from './connections.ts';
import { agentFreezeMs, freezeGuest } from './vm-guest.ts';

interface FreezeWork {
  readonly qmp: Qmp;
  readonly guest: GuestClient;
  readonly log: Log;
  readonly record: { readonly agentId: string };
}

const saveTimeoutMs = 120_000;
/** QEMU does not say why it could not write: with less room than this it was that. */
const fullMib = 16;

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

/** QEMU writes the file itself. */
export async function saveDevices(qmp: Qmp, path: string): Promise<void> {
  try {
    await qmp.execute('xen-save-devices-state', { filename: path, live: false }, { timeoutMs: saveTimeoutMs });
  } catch (error) {
    if (error instanceof QmpError && (await freeSpace(path)).freeMib < fullMib) {
      throw new VmError('disk_full', 'no room for the device state', { cause: error });
    }
    throw error;
  }
}
