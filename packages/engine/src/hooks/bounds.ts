import { defaultTurnBounds } from '../work/bounds.ts';
import type { TurnBounds } from '../work/bounds.ts';

/** Bounds of hook messages. A repeated delivery is recognised as long as its message is kept. */
export type HookBounds = TurnBounds;

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export const defaultHookBounds: HookBounds = {
  ...defaultTurnBounds,
  waitsMs: [30_000, 2 * minuteMs],
  maxWaitMs: 3 * dayMs,
  kept: 10_000,
  maxAgeMs: 30 * dayMs,
};
