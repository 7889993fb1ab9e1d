/** How a connection that a page holds open is tried again. */
import { ApiError } from '@lodge/sdk';

/** Whether it may be over by itself. */
export const isPassing = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 429 || error.status >= 500;

/** Waits longer after each failure, up to `maxMs`; no longer once the signal is given. */
export function pause(failures: number, maxMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(maxMs, 500 * 2 ** failures));
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
