import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { PrivateAddressError, isConnectFailure } from '@lodge/egress';

const maxAttempts = 3;
const connectAgainAfterMs = 250;
/** A refusal is short; a longer one is not worth its connection. */
const maxRefusalBytes = 64 * 1024;

/**
 * Sends a request again where that is safe: nothing of it had gone out, or the provider refused it before doing anything
 * and said when to come again, within `maxWaitMs`. Every other answer or failure is the caller's.
 */
export async function sendAgain(
  send: () => Promise<Dispatcher.ResponseData>,
  maxWaitMs: number,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  for (let attempt = 1; ; attempt++) {
    const last = attempt === maxAttempts;
    let pauseMs = connectAgainAfterMs * attempt;
    try {
      const response = await send();
      const waitMs = last ? null : waitAskedFor(response);
      if (waitMs === null || waitMs > maxWaitMs) return response;
      await response.body.dump({ limit: maxRefusalBytes, signal });
      pauseMs = waitMs;
    } catch (error) {
      if (last || signal.aborted || error instanceof PrivateAddressError || !isConnectFailure(error)) throw error;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}

/** Null where the answer is none that asks to come again. */
function waitAskedFor({ statusCode, headers }: Dispatcher.ResponseData): number | null {
  if ((statusCode !== 429 && statusCode !== 503) || headers['x-should-retry'] === 'false') return null;
  const header = String(headers['retry-after'] ?? '');
  return /^\d{1,6}$/.test(header) ? Number(header) * 1000 : null;
}
