import { Refusal, oneLine } from '@lodge/domain';
import type { ErrorCode } from '@lodge/domain';

/** The outcome of a turn that did not reach its end. */
export interface WorkFailure {
  /** One sentence for the owner. */
  readonly reason: string;
  /** The refusal's code; null where something failed within this service. */
  readonly code: ErrorCode | null;
  /** Whether the agent may have begun to act. */
  readonly mayHaveActed: boolean;
  /** Delay until the retry; null: the work has failed for good. */
  readonly retryAfterMs: number | null;
  /** There was no room to start or wake the agent. The work waits for room, however often that is tried. */
  readonly lackedRoom: boolean;
}

export interface RetryRules {
  /** Waits before failed work is tried again; after the last one it has failed for good. */
  readonly waitsMs: readonly number[];
  /** The longest wait, also where a refusal asks for a longer one. */
  readonly maxWaitMs: number;
  /** Whether another attempt may help after this refusal. */
  readonly mayPass: (refusal: Refusal) => boolean;
}

export interface Tried {
  /** Attempts so far, including this one. */
  readonly tries: number;
  /** Whether the turn was on its way to the agent. */
  readonly hasBegun: boolean;
}

export function failureOf(error: unknown, rules: RetryRules, { tries, hasBegun }: Tried): WorkFailure {
  const known = error instanceof Refusal ? error : null;
  const lackedRoom = known?.code === 'insufficient_capacity' && !hasBegun && rules.mayPass(known);
  const waitMs = lackedRoom ? rules.waitsMs[Math.min(tries, rules.waitsMs.length) - 1] : rules.waitsMs[tries - 1];
  const isFinal = waitMs === undefined || (known !== null && !rules.mayPass(known));
  const askedMs = (known?.retryAfterSeconds ?? 0) * 1000;
  return {
    reason: oneLine(known?.message ?? workReasons.ours),
    code: known?.code ?? null,
    mayHaveActed: hasBegun && (known === null || !known.mayRepeat),
    retryAfterMs: isFinal ? null : Math.min(rules.maxWaitMs, Math.max(waitMs, askedMs)),
    lackedRoom,
  };
}

/** Sentences for owners about work that was not answered. */
export const workReasons = {
  off: 'The agent does not run, and its lifecycle.wake_on_message is false.',
  tooOften: 'The turn was begun several times and never came to its end.',
  ours: 'Something failed within this service.',
  closing: 'The service ended while the agent was at work.',
} as const;
