import type { WorkBounds } from './claimed-work.ts';

/** Bounds of the loop that makes turns of what waits. */
export interface LoopBounds extends WorkBounds {
  readonly tidyEveryMs: number;
}

/** Bounds of one kind of turns. */
export interface TurnBounds {
  /** Concurrent turns in this process. */
  readonly atOnce: number;
  /** Bound on one turn. */
  readonly turnMs: number;
  /** Bound on the wait until an agent is awake. */
  readonly wakeMs: number;
  /** Waits before failed work is tried again; after the last one it has failed for good. */
  readonly waitsMs: readonly number[];
  /** Bound on the wait for the first attempt. */
  readonly maxWaitMs: number;
  /** Ended work of one schedule or hook that is kept, and for how long. */
  readonly kept: number;
  readonly maxAgeMs: number;
}

const minuteMs = 60_000;

export const defaultLoopBounds: LoopBounds = {
  leaseMs: 30_000,
  lookEveryMs: 1_000,
  drainMs: 5_000,
  tidyEveryMs: 10 * minuteMs,
};

/** Bounds that all kinds share. */
export const defaultTurnBounds = {
  atOnce: 16,
  turnMs: 10 * minuteMs,
  wakeMs: 3 * minuteMs,
} as const satisfies Partial<TurnBounds>;
