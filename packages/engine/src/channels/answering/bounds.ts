import type { WorkBounds } from '../../work/claimed-work.ts';

/** Bounds of the turns that messages make. A look finds work without a notification, and `/stop`. */
export interface AnsweringBounds extends WorkBounds {
  /** Concurrent turns in this process. */
  readonly atOnce: number;
  /** Concurrent turns of one agent. */
  readonly turnsPerAgent: number;
  /** Bound on one turn with its files. */
  readonly turnMs: number;
  /** Bound on the wait until an agent is awake. */
  readonly wakeMs: number;
  /** How often a relay gets the text so far, to show it. */
  readonly tellEveryMs: number;
  /** Waits before a turn that could not begin is tried again; after the last one it has failed. */
  readonly waitsMs: readonly number[];
}

export const defaultAnsweringBounds: AnsweringBounds = {
  atOnce: 32,
  turnsPerAgent: 3,
  leaseMs: 30_000,
  lookEveryMs: 1_000,
  turnMs: 10 * 60_000,
  wakeMs: 3 * 60_000,
  tellEveryMs: 3_000,
  drainMs: 5_000,
  waitsMs: [10_000, 60_000, 5 * 60_000],
};

const mib = 1024 * 1024;

/** Bounds on the files that one turn puts into a workspace, and on those that its answer sends. */
export const fileBounds = { count: 20, bytes: 50 * mib, allBytes: 100 * mib } as const;
