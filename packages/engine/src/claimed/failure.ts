import { Refusal, oneLine } from '@lodge/domain';
import type { ErrorCode } from '@lodge/domain';
import { workReasons } from './words.ts';

/** The outcome of a turn that did not come to its end. */
export interface WorkFailure {
  /** One sentence for the owner. */
  readonly reason: string;
  /** The refusal's code; null where something failed within this service. */
  readonly code: ErrorCode | null;
  /** The agent may have begun to do what it was told. */
  readonly mayHaveActed: boolean;
  /** Null: it has failed for good. */
  readonly retryAfterMs: number | null;
}

export interface RetryRules {
  /** Waits before what failed is tried again; after the last one it has failed for good. */
  readonly waitsMs: readonly number[];
  /** The longest wait, also where a refusal asks for a longer one. */
  readonly maxWaitMs: number;
  /** Whether another attempt may help after this refusal. */
  readonly mayPass: (refusal: Refusal) => boolean;
}

export interface Tried {
  /** How often the turn was begun, this time included. */
  readonly tries: number;
  /** The turn was on its way to the agent. */
  readonly hasBegun: boolean;
}

export function failureOf(error: unknown, rules: RetryRules, { tries, hasBegun }: Tried): WorkFailure {
  const known = error instanceof Refusal ? error : null;
  const waitMs = rules.waitsMs[tries - 1];
  const isFinal = waitMs === undefined || (known !== null && !rules.mayPass(known));
  const askedMs = (known?.retryAfterSeconds ?? 0) * 1000;
  return {
    reason: oneLine(known?.message ?? workReasons.ours),
    code: known?.code ?? null,
    mayHaveActed: hasBegun && (known === null || !known.mayRepeat),
    retryAfterMs: isFinal ? null : Math.min(rules.maxWaitMs, Math.max(waitMs, askedMs)),
  };
}
