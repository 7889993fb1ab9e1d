/** Decides whether a request that failed is sent again, and when. */
import { ApiError, ConnectionError, TimeoutError } from '../errors.ts';

/**
 * `always`: it has the same effect once or twice. `unsent`: it is repeated only when it certainly had no effect.
 */
export type Repeat = 'always' | 'unsent';

const firstDelayMs = 500;
const maxDelayMs = 2_000;
const maxRetryAfterMs = 60_000;
/** Waiting does not make these pass. */
const finalCodes: ReadonlySet<string> = new Set(['spend_limit_exceeded', 'loop_detected', 'provisioning_failed']);
/** Somebody must make room in a quota first, so only a short wait is worth it. */
const maxQuotaMs = 5_000;

/** Milliseconds until the request is sent again; null: it is not. `retry` counts from 0. */
export function retryDelayMs(error: unknown, repeat: Repeat, retry: number): number | null {
  const backoffMs = backoff(retry, firstDelayMs, maxDelayMs);
  if (error instanceof ConnectionError) return repeat === 'always' || !error.mayHaveBeenSent ? backoffMs : null;
  if (error instanceof TimeoutError) return repeat === 'always' ? backoffMs : null;
  if (!(error instanceof ApiError) || error.details['should_retry'] === false) return null;
  const { status, code, retryAfterSeconds } = error;
  const afterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  if (finalCodes.has(code) || (code === 'quota_exceeded' && !(afterMs! <= maxQuotaMs))) return null;
  if (afterMs !== undefined && afterMs > maxRetryAfterMs) return null;
  // A little more than asked for, so that those who were refused together do not come together.
  const delayMs = afterMs === undefined ? backoffMs : afterMs + backoffMs / 4;
  if (status === 429 || status === 503) return repeat === 'always' || afterMs !== undefined ? delayMs : null;
  if (repeat !== 'always') return null;
  if (isUnderWay(error)) return delayMs;
  return [408, 500, 502, 504].includes(status) ? delayMs : null;
}

/** Whether the first try of this very request is under way. */
export const isUnderWay = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'idempotency_in_progress';

/** Whether the server is away, or in trouble: what was under way can go on when it is back. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiError
    ? error.status >= 500 || error.status === 429 || error.status === 408
    : error instanceof ConnectionError || error instanceof TimeoutError;

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
