/** Decides whether a request that failed is sent again, and when. */
import { ApiError, ConnectionError, TimeoutError } from '../errors.ts';

/**
 * `always`: it has the same effect once or twice. `unsent`: it is repeated only when it certainly had no effect.
 */
export type Repeat = 'always' | 'unsent';

const firstDelayMs = 500;
const maxDelayMs = 2_000;
const maxRetryAfterMs = 60_000;

/** Milliseconds until the request is sent again; null: it is not. `retry` counts from 0. */
export function retryDelayMs(error: unknown, repeat: Repeat, retry: number): number | null {
  const backoffMs = backoff(retry, firstDelayMs, maxDelayMs);
  if (error instanceof ConnectionError) return repeat === 'always' || !error.mayHaveBeenSent ? backoffMs : null;
  if (error instanceof TimeoutError) return repeat === 'always' ? backoffMs : null;
  if (!(error instanceof ApiError) || error.details['should_retry'] === false) return null;
  const { status, code, retryAfterSeconds } = error;
  const afterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  if (afterMs !== undefined && afterMs > maxRetryAfterMs) return null;
  // A little more than asked for, so that those who were refused together do not come together.
  const delayMs = afterMs === undefined ? backoffMs : afterMs + backoffMs / 4;
  if (status === 429 || status === 503) return repeat === 'always' || afterMs !== undefined ? delayMs : null;
  if (repeat !== 'always') return null;
  // The first try of this very request is under way.
  if (code === 'idempotency_in_progress') return delayMs;
  return [408, 500, 502, 504].includes(status) ? delayMs : null;
}

/** Doubles with each try up to `maxMs`; the later half of it is chance. */
export function backoff(retry: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** retry) * (0.5 + Math.random() / 2);
}

/** Resolves after `ms`, or rejects with the signal's reason. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
