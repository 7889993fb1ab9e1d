/** Bounds of the turns that messages make. */
export interface AnsweringBounds {
  /** Turns under way in this process. */
  readonly turns: number;
  /** Turns under way of one agent. */
  readonly turnsPerAgent: number;
  /** How long a claim holds without being renewed. */
  readonly leaseMs: number;
  /** How often is looked for work that nobody told of, and for `/stop`. */
  readonly lookEveryMs: number;
  /** Of one turn, its files included. */
  readonly turnMs: number;
  /** How long an agent may take to wake. */
  readonly wakeMs: number;
  /** How often what the agent has said so far is told to who shows it. */
  readonly tellEveryMs: number;
  /** How long turns under way may go on when the process ends. */
  readonly drainMs: number;
  /** Waits before a turn that could not begin is tried again; after the last one it has failed. */
  readonly waitsMs: readonly number[];
}

export const defaultAnsweringBounds: AnsweringBounds = {
  turns: 32,
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
/** A longer answer is cut. */
export const maxAnswerChars = 64 * 1024;
