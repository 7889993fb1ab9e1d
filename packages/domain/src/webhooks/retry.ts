/** When a delivery that failed is tried again, and when it is given up. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** From the end of an attempt to the next one; the last goes on. */
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

/** A receiver that has failed for so long is told nothing more. */
export const webhookGiveUpMs = 24 * hour;

export interface RetryRules {
  readonly waitsMs: readonly number[];
  readonly giveUpMs: number;
}

export const webhookRetries: RetryRules = { waitsMs: webhookWaitsMs, giveUpMs: webhookGiveUpMs };

/**
 * How long to wait after so many attempts (1 or more), within `askedMs` of the receiver. `random` in [0, 1) spreads receivers
 * that failed together: up to a fifth longer.
 */
export function retryWaitMs({ waitsMs }: RetryRules, attempts: number, askedMs: number | null, random: number): number {
  const longest = waitsMs.at(-1)!;
  const wait = waitsMs[attempts - 1] ?? longest;
  return Math.round(Math.max(wait * (1 + random / 5), Math.min(askedMs ?? 0, longest)));
}
