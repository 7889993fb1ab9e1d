import { LeaseLost } from '@lodge/ports';
import type { ConnectionHost, InboundMessage } from '@lodge/ports';
import type { Json } from '@lodge/domain';
import { untilAborted } from '@lodge/domain';
import type { Backoff } from './backoff.ts';

/** Most messages that `ConnectionHost.received` takes at once. */
export const maxAtOnce = 100;

/**
 * Commits messages in order, and tries again for ever after a failure. The cursor goes with the last of them, or alone.
 * Resolves true when all are committed: only then acknowledge them. False: the connection was closed meanwhile. Rejects with
 * `LeaseLost`.
 */
export async function committed(
  host: Pick<ConnectionHost, 'received' | 'at' | 'log'>,
  messages: readonly InboundMessage[],
  cursor: Json | undefined,
  tries: { readonly backoff: Backoff; readonly signal: AbortSignal },
): Promise<boolean> {
  const { backoff, signal } = tries;
  let from = 0;
  do {
    const next = messages.slice(from, from + maxAtOnce);
    const isLast = from + next.length >= messages.length;
    while (!(await isCommitted(host, next, isLast ? cursor : undefined, signal))) {
      if (signal.aborted) return false;
      await backoff.wait(signal);
      if (signal.aborted) return false;
    }
    from += next.length;
  } while (from < messages.length);
  backoff.succeeded();
  return !signal.aborted;
}

/** Returns false if it was not committed, or the connection ended during the wait. Throws `LeaseLost`. */
async function isCommitted(
  host: Pick<ConnectionHost, 'received' | 'at' | 'log'>,
  messages: readonly InboundMessage[],
  cursor: Json | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if (messages.length > 0) await untilAborted(host.received(messages, cursor), signal);
    else if (cursor !== undefined) await untilAborted(host.at(cursor), signal);
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    if (!signal.aborted) host.log.warn({ messages: messages.length }, 'channel messages were not committed');
    return false;
  }
}
