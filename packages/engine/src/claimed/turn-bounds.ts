import type { TidyBounds } from '@lodge/ports';
import type { WorkBounds } from './work.ts';

/** Bounds of turns that schedules and third parties make. */
export interface TurnBounds extends WorkBounds, TidyBounds {
  readonly tidyEveryMs: number;
  /** Of one turn. */
  readonly turnMs: number;
  /** How long an agent may take to wake. */
  readonly wakeMs: number;
  /** Waits before what failed is tried again; after the last one it has failed for good. */
  readonly waitsMs: readonly number[];
}

const minuteMs = 60_000;

/** Those that all have in common. */
export const defaultTurnBounds = {
  atOnce: 16,
  leaseMs: 30_000,
  lookEveryMs: 1_000,
  drainMs: 5_000,
  tidyEveryMs: 10 * minuteMs,
  turnMs: 10 * minuteMs,
  wakeMs: 3 * minuteMs,
} as const satisfies Partial<TurnBounds>;
