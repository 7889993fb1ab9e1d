/** The daemon in a VM's guest, which knows the host by the credential of the VM's record. */
import { createHash, randomBytes } from 'node:crypto';
import { dialTo, guestClient } from '@lodge/guest';
import type { Beginning, GuestClient, GuestIdentity } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { GuestConnection, Log } from '@lodge/ports';
import type { HostPace } from '../../pace.ts';
import { dialAt, noGuest } from '../../dial.ts';
import { isAlive } from '../host/process.ts';
import { throwIfAborted } from '../../waiting.ts';
import type { RunDirectory, VmRecord } from '../saved/run-directory.ts';

/** The guest of a running VM, which therefore has an address. */
export function guestOf(
  record: Pick<VmRecord, 'credential' | 'address'>,
  { pace }: { readonly pace: HostPace },
): GuestClient {
  const credential = async (): Promise<string | null> => record.credential ?? null;
  return guestClient({ dial: dialTo(record.address ?? ''), credential, pace: pace.value });
}

/** Connects to a port of the guest whose record lies in this folder. */
export async function dialGuest(
  directory: Pick<RunDirectory, 'agentId' | 'read'>,
  port: number,
  signal: AbortSignal,
): Promise<GuestConnection> {
  const record = await directory.read();
  const isThere = record?.phase === 'running' && record.process !== null && isAlive(record.process);
  if (!isThere || record.address === null) throw noGuest(directory.agentId);
  return dialAt(record.address)(port, signal);
}

interface Bound extends Beginning {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The credential by which the daemon knows the host from now on. */
  readonly claim?: string;
}

/** Sets the clock of a guest whose CPUs have just gone on, and stirs its randomness. */
export async function setGuestClock(guest: GuestClient, bound: Bound): Promise<void> {
  await guest.awaitClock(bound).catch((error: unknown) => {
    if (bound.signal.aborted) throw error;
    throw new VmError('timeout', 'the guest does not take the time', { cause: error });
  });
}

/** Makes the identity of a new execution. A guest that was paused keeps its own. */
export function newIdentity(agentId: string): GuestIdentity {
  const machineId = createHash('sha256').update(`lodge machine ${agentId}`).digest('hex').slice(0, 32);
  return { generation: randomBytes(16).toString('hex'), hostname: agentId, machineId };
}

/** Multiplied by the guest's pace. */
const freezeTimeoutMs = 8_000;
/** An agent's guest may be silent on purpose, and others wait for its save to end. */
const maxFreezePace = 3;

/** Bound on the freeze of an agent's guest, ms. */
export const agentFreezeMs = (pace: number): number => freezeTimeoutMs * Math.min(pace, maxFreezePace);
/** The same for the guest of a template, which belongs to nobody yet. */
export const templateFreezeMs = (pace: number): number => freezeTimeoutMs * pace;

interface Freeze {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Names the guest in the log. */
  readonly about: object;
}

/**
 * Freezes the processes of a running guest that is about to be saved, until it gets the time again. A guest that does not
 * manage it is saved as it is: its processes may draw random values before its kernel's are renewed. Rejects once the signal
 * fires.
 */
export async function freezeGuest(guest: GuestClient, { timeoutMs, signal, log, about }: Freeze): Promise<void> {
  await guest.freeze({ timeoutMs, signal }).catch((error: unknown) => {
    if (!signal.aborted) log.warn({ ...about, err: error }, 'a guest is saved while its processes run');
  });
  throwIfAborted(signal);
}
