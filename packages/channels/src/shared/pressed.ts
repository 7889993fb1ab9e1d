import { LeaseLost } from '@lodge/ports';
import type { ConnectionHost, Press, Pressed } from '@lodge/ports';
import { untilAborted } from '@lodge/domain';
import type { Backoff } from './backoff.ts';

/**
 * Commits a press, and tries again after a failure until `signal`. Null: it was not committed until then, so the platform is
 * told nothing. Rejects with `LeaseLost`.
 */
export async function pressed(
  host: Pick<ConnectionHost, 'pressed' | 'log'>,
  press: Press,
  { backoff, signal }: { readonly backoff: Backoff; readonly signal: AbortSignal },
): Promise<Pressed | null> {
  while (!signal.aborted) {
    try {
      return await untilAborted(host.pressed(press), signal);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      if (signal.aborted) return null;
      host.log.warn({}, 'a press was not committed');
    }
    await backoff.wait(signal);
  }
  return null;
}
