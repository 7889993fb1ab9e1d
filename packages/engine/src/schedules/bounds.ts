import { defaultTurnBounds } from '../work/bounds.ts';
import type { TurnBounds } from '../work/bounds.ts';

/** Bounds of the runs that schedules make. */
export interface ScheduleBounds extends TurnBounds {
  /** Schedules that one look makes runs of. */
  readonly fired: number;
  /** How often the runner checks whether the clock went back. */
  readonly replanEveryMs: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export const defaultScheduleBounds: ScheduleBounds = {
  ...defaultTurnBounds,
  fired: 500,
  replanEveryMs: 30_000,
  waitsMs: [30_000, 2 * minuteMs, 10 * minuteMs],
  maxWaitMs: dayMs,
  kept: 200,
  maxAgeMs: 90 * dayMs,
};
