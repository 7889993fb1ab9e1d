/** The daemon in a VM's guest, which knows the host by the credential of the VM's record. */
import { guestClient } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { HostPace } from '../../pace.ts';
import type { VmRecord } from '../saved/run-directory.ts';

/** Of a VM that runs, and so has an address. */
export function guestOf(
  record: Pick<VmRecord, 'credential' | 'address'>,
  { pace }: { readonly pace: HostPace },
): GuestClient {
  const credential = async (): Promise<string | null> => record.credential ?? null;
  return guestClient({ address: record.address ?? '', credential, pace: pace.value });
}

interface Bound {
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
