import type { WorkBounds } from '../claimed/work.ts';

/** Bounds of the runs that schedules make. */
export interface ScheduleBounds extends WorkBounds {
  /** Schedules that one look makes runs of. */
  readonly fired: number;
  /** How often is looked whether the clock went back. */
  readonly replanEveryMs: number;
  readonly tidyEveryMs: number;
  /** Of one turn. */
  readonly turnMs: number;
  /** How long an agent may take to wake. */
  readonly wakeMs: number;
  /** Waits before a run that failed is tried again; after the last one it has failed for good. */
  readonly waitsMs: readonly number[];
  /** A run that did not begin within this time is missed. */
  readonly maxWaitMs: number;
  /** Runs of a schedule that are kept. */
  readonly kept: number;
  readonly maxAgeMs: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export const defaultScheduleBounds: ScheduleBounds = {
  atOnce: 16,
  fired: 500,
  leaseMs: 30_000,
  lookEveryMs: 1_000,
  replanEveryMs: 30_000,
  tidyEveryMs: 10 * minuteMs,
  turnMs: 10 * minuteMs,
  wakeMs: 3 * minuteMs,
  drainMs: 5_000,
  waitsMs: [30_000, 2 * minuteMs, 10 * minuteMs],
  maxWaitMs: dayMs,
  kept: 200,
  maxAgeMs: 90 * dayMs,
};
