/** The times at which a failed delivery is tried again, and at which it is given up. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds from the end of an attempt to the next one; the last repeats. */
export const webhookWaitsMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
] as const;

/** A receiver that has failed for this long receives nothing more. */
export const webhookGiveUpMs = 24 * hour;

export interface RetryRules {
  readonly waitsMs: readonly number[];
  readonly giveUpMs: number;
}

export const webhookRetries: RetryRules = { waitsMs: webhookWaitsMs, giveUpMs: webhookGiveUpMs };

/**
 * Returns the wait after `attempts` attempts (1 or more), within the receiver's `askedMs`. `random` in [0, 1) adds up to a
 * fifth, which spreads receivers that failed together.
 */
export function retryWaitMs({ waitsMs }: RetryRules, attempts: number, askedMs: number | null, random: number): number {
  const longest = waitsMs.at(-1)!;
  const wait = waitsMs[attempts - 1] ?? longest;
  return Math.round(Math.max(wait * (1 + random / 5), Math.min(askedMs ?? 0, longest)));
}

/** Whether a delivery is given up when its attempt with this number (1 or more) fails: its waits have come to `giveUpMs`. */
export function isLastAttempt({ waitsMs, giveUpMs }: RetryRules, attempt: number): boolean {
  const waits = Array.from({ length: attempt - 1 }, (_, n) => waitsMs[n] ?? waitsMs.at(-1) ?? 0);
  return waits.reduce((sum, ms) => sum + ms, 0) >= giveUpMs;
}
