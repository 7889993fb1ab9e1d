import type { GuestClient } from '@lodge/guest';
import { VmError } from '@lodge/ports';

interface Bound {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Sets the clock of a guest whose CPUs have just gone on, and stirs its randomness. */
export async function setGuestClock(guest: GuestClient, bound: Bound): Promise<void> {
  await guest.awaitClock(bound).catch((error: unknown) => {
    if (bound.signal.aborted) throw error;
    throw new VmError('timeout', 'the guest does not take the time', { cause: error });
  });
}
