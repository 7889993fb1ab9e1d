import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lodge/domain';
import type { BackoffRule } from '@lodge/domain';

export interface BackoffTimings extends BackoffRule {
  /** How long a success must last before the next failure counts as a first one. */
  readonly stableMs: number;
}

/** For connections that are opened again for ever. */
export const usualBackoff: BackoffTimings = { firstMs: 1_000, maxMs: 60_000, stableMs: 60_000 };

/**
 * Waits between tries: a random time up to a bound that doubles (full jitter), so that many connections that broke at once
 * do not come back at once.
 */
export class Backoff {
  private readonly timings: BackoffTimings;
  private readonly now: () => number;
  private readonly random: () => number;
  private failures = 0;
  private succeededAt: number | null = null;

  constructor(timings: BackoffTimings, now: () => number = Date.now, random: () => number = Math.random) {
    this.timings = timings;
    this.now = now;
    this.random = random;
  }

  /** Counts a failure and returns the wait after it, in ms; never less than `atLeastMs`. */
  next(atLeastMs = 0): number {
    const { stableMs } = this.timings;
    if (this.succeededAt !== null && this.now() - this.succeededAt >= stableMs) this.failures = 0;
    this.succeededAt = null;
    this.failures += 1;
    return atLeastMs + Math.ceil(backoffMs({ jitter: 1, ...this.timings }, this.failures, this.random));
  }

  /** Counts a failure and waits. Resolves early when `signal` is aborted: look at the signal afterwards. */
  async wait(signal: AbortSignal, atLeastMs = 0): Promise<void> {
    await pause(this.next(atLeastMs), signal);
  }

  /** Notes a success. Call it once for each success or repeatedly: the first one since the last failure counts. */
  succeeded(): void {
    this.succeededAt ??= this.now();
  }
}

/** Longest wait of a timer in Node: 2^31 - 1 ms. */
const maxTimerMs = 2_147_483_647;

/** Resolves after the time, or early when `signal` is aborted. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || delayMs <= 0) return;
  await sleep(Math.min(delayMs, maxTimerMs), undefined, { signal }).catch(() => undefined);
}
