import { backoffMs } from '@lodge/domain';
import { LeaseLost } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import { pause } from '../shared/backoff.ts';

const writeAgain = { firstMs: 100, maxMs: 5_000 };

/**
 * Repeats a write of a known outcome until it succeeds: while the database is away only this process knows it. Returns false
 * if the lease is lost, or `signal` was aborted first; the next holder then finds the part as unclear.
 */
export async function settled(write: () => Promise<unknown>, signal: AbortSignal, log: Log): Promise<boolean> {
  for (let failures = 1; ; failures += 1) {
    try {
      await write();
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) return false;
      log.warn({ err: error }, 'an outcome of a channel was not written yet');
    }
    if (signal.aborted) return false;
    await pause(backoffMs(writeAgain, failures), signal);
  }
}
