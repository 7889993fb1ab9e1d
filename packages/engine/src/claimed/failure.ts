import { Refusal, oneLine } from '@lodge/domain';
import type { ErrorCode } from '@lodge/domain';
import { workReasons } from './words.ts';

/** What becomes of work that did not come to the end of its turn. */
export interface WorkFailure {
  /** One sentence for the owner. */
  readonly reason: string;
  /** The agent may have begun to do what it was told. */
  readonly mayHaveActed: boolean;
  /** Null: it has failed for good. */
  readonly retryAfterMs: number | null;
}

/** What another attempt cannot help: keys, limits, and an agent that is not there to be woken. */
const final: readonly ErrorCode[] = [
  'invalid_request',
  'request_too_large',
  'spend_limit_exceeded',
  'loop_detected',
  'agent_not_running',
  'agent_not_found',
];

const maxWaitMs = 15 * 60_000;

interface Tried {
  /** How often the turn was begun, this time included. */
  readonly tries: number;
  readonly waitsMs: readonly number[];
  /** The turn was on its way to the agent. */
  readonly hasBegun: boolean;
}

export function failureOf(error: unknown, { tries, waitsMs, hasBegun }: Tried): WorkFailure {
  const known = error instanceof Refusal ? error : null;
  const waitMs = waitsMs[tries - 1];
  const isFinal = waitMs === undefined || (known !== null && final.includes(known.code));
  const askedMs = (known?.retryAfterSeconds ?? 0) * 1000;
  return {
    reason: oneLine(known?.message ?? workReasons.ours),
    mayHaveActed: hasBegun && (known === null || !known.mayRepeat),
    retryAfterMs: isFinal ? null : Math.min(maxWaitMs, Math.max(waitMs, askedMs)),
  };
}
