import type { WorkBounds } from '../../claimed/work.ts';

/** Bounds of the turns that messages make. A look is for work that nobody told of, and for `/stop`. */
export interface AnsweringBounds extends WorkBounds {
  /** Turns under way of one agent. */
  readonly turnsPerAgent: number;
  /** Of one turn, its files included. */
  readonly turnMs: number;
  /** How long an agent may take to wake. */
  readonly wakeMs: number;
  /** How often what the agent has said so far is told to who shows it. */
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

/** Of files that are put into a workspace for one turn, and that its answer sends. */
export const fileBounds = { count: 20, bytes: 50 * mib, allBytes: 100 * mib } as const;
