import type { WorkBounds } from '../claimed/work.ts';

/** Bounds of the turns that messages of hooks make. */
export interface HookBounds extends WorkBounds {
  readonly tidyEveryMs: number;
  /** Of one turn. */
  readonly turnMs: number;
  /** How long an agent may take to wake. */
  readonly wakeMs: number;
  /** Waits before a message that failed is tried again; after the last one it has failed for good. */
  readonly waitsMs: readonly number[];
  /** A message that was not begun within this time has failed. */
  readonly maxWaitMs: number;
  /** Messages of a hook that are kept once they have ended: a delivery that is sent again is known so long. */
  readonly kept: number;
  readonly maxAgeMs: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export const defaultHookBounds: HookBounds = {
  atOnce: 16,
  leaseMs: 30_000,
  lookEveryMs: 1_000,
  drainMs: 5_000,
  tidyEveryMs: 10 * minuteMs,
  turnMs: 10 * minuteMs,
  wakeMs: 3 * minuteMs,
  waitsMs: [30_000, 2 * minuteMs],
  maxWaitMs: 3 * dayMs,
  kept: 10_000,
  maxAgeMs: 30 * dayMs,
};
