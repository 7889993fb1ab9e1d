import type { TidyBounds } from '@lodge/ports';
import type { WorkBounds } from './work.ts';

/** Bounds of turns that schedules and third parties cause. */
export interface TurnBounds extends WorkBounds, TidyBounds {
  readonly tidyEveryMs: number;
  /** Bound on one turn. */
  readonly turnMs: number;
  /** Bound on the wait until an agent is awake. */
  readonly wakeMs: number;
  /** Waits before failed work is tried again; after the last one it has failed for good. */
  readonly waitsMs: readonly number[];
}

const minuteMs = 60_000;

/** Bounds that all of them share. */
export const defaultTurnBounds = {
  atOnce: 16,
  leaseMs: 30_000,
  lookEveryMs: 1_000,
  drainMs: 5_000,
  tidyEveryMs: 10 * minuteMs,
  turnMs: 10 * minuteMs,
  wakeMs: 3 * minuteMs,
} as const satisfies Partial<TurnBounds>;
