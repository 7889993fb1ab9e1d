import type { GuestClient } from '@lodge/guest';
import { VmError } from '@lodge/engine/ports';

/** After these pauses, milliseconds, it is asked once more, beside the calls under way. */
const pausesMs = [150, 150, 300, 600, 1000, 1000];
const timeoutMs = 8000;

/**
 * Sets the clock of a guest whose CPUs have just gone on, and stirs its randomness. The first packet to such a guest is
 * often lost, and TCP repeats it a second later: so it is asked again before, and the first answer counts. To be asked
 * twice does a clock no harm.
 */
export async function setGuestClock(guest: GuestClient, signal: AbortSignal): Promise<void> {
  const answered = new AbortController();
  const stop = AbortSignal.any([signal, answered.signal]);
  const failures: unknown[] = [];
  const done = Promise.withResolvers<void>();
  const ask = (): void => {
    guest.setClock({ timeoutMs, signal: stop }).then(done.resolve, (error: unknown) => {
      failures.push(error);
      if (failures.length > pausesMs.length || signal.aborted) done.reject(failures[0]);
    });
  };
  ask();
  let afterMs = 0;
  const timers = pausesMs.map((pauseMs) => setTimeout(ask, (afterMs += pauseMs)));
  try {
    await done.promise;
  } catch (error) {
    throw signal.aborted ? error : new VmError('timeout', 'the guest does not take the time', { cause: error });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    answered.abort();
  }
}
