/** The daemon in a VM's guest, which knows the host by the credential of the VM's record. */
import { guestClient } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import { VmError } from '@lodge/ports';
import type { VmRecord } from '../saved/run-directory.ts';

export function guestOf(vm: { readonly address: string; readonly record: Pick<VmRecord, 'credential'> }): GuestClient {
  return guestClient({ address: vm.address, credential: async () => vm.record.credential ?? null });
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
