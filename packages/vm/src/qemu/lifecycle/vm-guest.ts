/** The daemon in a VM's guest, which knows the host by the credential of the VM's record. */
import { createHash, randomBytes } from 'node:crypto';
import { guestClient } from '@lodge/guest';
import type { Beginning, GuestClient, GuestIdentity } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import type { HostPace } from '../../pace.ts';
import { throwIfAborted } from '../../waiting.ts';
import type { VmRecord } from '../saved/run-directory.ts';

/** Of a VM that runs, and so has an address. */
export function guestOf(
  record: Pick<VmRecord, 'credential' | 'address'>,
  { pace }: { readonly pace: HostPace },
): GuestClient {
  const credential = async (): Promise<string | null> => record.credential ?? null;
  return guestClient({ address: record.address ?? '', credential, pace: pace.value });
}

interface Bound extends Beginning {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The credential that the daemon is to know the host by from now on. */
  readonly claim?: string;
}

/** Sets the clock of a guest whose CPUs have just gone on, and stirs its randomness. */
export async function setGuestClock(guest: GuestClient, bound: Bound): Promise<void> {
  await guest.awaitClock(bound).catch((error: unknown) => {
    if (bound.signal.aborted) throw error;
    throw new VmError('timeout', 'the guest does not take the time', { cause: error });
  });
}

/** Of an execution that begins. A guest that was paused goes on with the one it has. */
export function newIdentity(agentId: string): GuestIdentity {
  const machineId = createHash('sha256').update(`lodge machine ${agentId}`).digest('hex').slice(0, 32);
  return { generation: randomBytes(16).toString('hex'), hostname: agentId, machineId };
}

/** Times the guest's pace. */
const freezeTimeoutMs = 8_000;
/** An agent's guest may be silent on purpose, and others wait for its save to end. */
const maxFreezePace = 3;

/** How long the freeze of an agent's guest is waited for, ms. */
export const agentFreezeMs = (pace: number): number => freezeTimeoutMs * Math.min(pace, maxFreezePace);
/** The same for the guest of a template, which is nobody's yet. */
export const templateFreezeMs = (pace: number): number => freezeTimeoutMs * pace;

interface Freeze {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Names the guest in the log. */
  readonly about: object;
}

/**
 * Has a guest that runs, and is about to be saved, do nothing until it is told the time again. One that does not come to it is
 * saved as it is: its processes may draw random values before its kernel's are renewed. Rejects once the signal fires.
 */
export async function freezeGuest(guest: GuestClient, { timeoutMs, signal, log, about }: Freeze): Promise<void> {
  await guest.freeze({ timeoutMs, signal }).catch((error: unknown) => {
    if (!signal.aborted) log.warn({ ...about, err: error }, 'a guest is saved while its processes run');
  });
  throwIfAborted(signal);
}
