import { backoffMs } from '@lodge/domain';
import { LeaseLost } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import { pause } from '../shared/backoff.ts';

const writeAgain = { firstMs: 100, maxMs: 5_000 };

/**
 * Writes what is already so, until it is written: while the database is away this is the only place that knows. False: the
 * lease is lost, or `signal` was aborted first; the next holder then finds the part as unclear.
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
