import { setTimeout as sleep } from 'node:timers/promises';
import { GuestError } from './call.ts';

/**
 * Attempts in progress at once. With pauses that grow to a second, an attempt still has several seconds before it is given
 * up.
 */
const overlappingAttempts = 8;
/** First pause. An emulated guest takes 0.25 s over its first answer, and longer over each further attempt. */
const firstPauseMs = 300;
const longestPauseMs = 1_000;

/**
 * Repeats `attempt` until it succeeds. A packet to a guest whose CPUs have just started may be lost, and TCP repeats it only
 * a second later. A busy guest may take long over one answer. Attempts therefore overlap: each new one begins after a pause,
 * and the first answer wins.
 */
export async function firstAnswer<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<T> {
  const { promise: answer, resolve } = Promise.withResolvers<T>();
  const answered = new AbortController();
  const signals = [answered.signal, AbortSignal.timeout(options.timeoutMs)];
  const stop = AbortSignal.any(options.signal ? [...signals, options.signal] : signals);
  const underway: AbortController[] = [];
  let lastError: unknown;
  for (let pauseMs = firstPauseMs; !stop.aborted; pauseMs = Math.min(longestPauseMs, pauseMs * 1.2)) {
    const own = new AbortController();
    underway.push(own);
    if (underway.length > overlappingAttempts) underway.shift()?.abort();
    attempt(AbortSignal.any([stop, own.signal])).then(
      (value) => {
        resolve(value);
        answered.abort();
      },
      (error: unknown) => {
        if (error instanceof GuestError) lastError = error;
      },
    );
    await sleep(pauseMs, undefined, { signal: stop }).catch(() => undefined);
  }
  if (answered.signal.aborted) return answer;
  options.signal?.throwIfAborted();
  throw new GuestError(null, `the guest's daemon did not answer within ${options.timeoutMs} ms`, { cause: lastError });
}
