import { defaultTurnBounds } from '../work/bounds.ts';
import type { TurnBounds } from '../work/bounds.ts';

export interface ConfirmationBounds extends TurnBounds {
  /** How long a call waits in its turn. Turns have ten minutes, and the clients of tools 250 seconds. */
  readonly waitMs: number;
  /** Bound on a call that is under way; afterwards nothing is known of it. Longer than any call may take. */
  readonly sendMs: number;
  /** How long an agent may run a command once that was allowed when no turn waited for it. */
  readonly passMs: number;
  /**
   * How long the turn of a message that decides has for telling the agent; afterwards the queue tells it. Longer than a wake and
   * a turn.
   */
  readonly tellMs: number;
  /** How much later the queue does what a waiting call should have done. */
  readonly graceMs: number;
  readonly expireEveryMs: number;
  /** A waiting call looks at its row so often, should a notification be lost. */
  readonly lookEveryMs: number;
}

const minuteMs = 60_000;

export const defaultConfirmationBounds: ConfirmationBounds = {
  ...defaultTurnBounds,
  waitsMs: [30_000, 2 * minuteMs, 10 * minuteMs],
  maxWaitMs: 24 * 60 * minuteMs,
  kept: 1_000,
  maxAgeMs: 30 * 24 * 60 * minuteMs,
  waitMs: 4 * minuteMs,
  sendMs: 6 * minuteMs,
  passMs: 24 * 60 * minuteMs,
  tellMs: 20 * minuteMs,
  graceMs: 5_000,
  expireEveryMs: 15_000,
  lookEveryMs: 10_000,
};

/**
 * Calls that wait in their turns in this process. Each holds a place among the agent's requests to the host, of which an agent has
 * eight, so half of them stay free.
 */
export const waitingPlaces = { perAgent: 4, perAccount: 32, inAll: 256, few: 2 } as const;
