import { Refusal, oneLine } from '@lodge/domain';
import type { ErrorCode } from '@lodge/domain';
import { reasons, sayings } from './words.ts';

/** What becomes of a turn that did not end in an answer. */
export type Failure =
  | { readonly to: 'later'; readonly afterMs: number; readonly reason: string }
  | { readonly to: 'end'; readonly reason: string; readonly text: string };

/** What passes by itself, sooner or later. */
const passing: readonly ErrorCode[] = [
  'agent_transitioning',
  'insufficient_capacity',
  'quota_exceeded',
  'rate_limit_exceeded',
];

const texts: { readonly [Code in ErrorCode]?: string } = {
  request_too_large: sayings.tooLong,
  invalid_request: sayings.cannot,
  internal_error: sayings.notDone,
  loop_detected: sayings.notDone,
  agent_unavailable: sayings.notDone,
};

const maxWaitMs = 10 * 60_000;

/** `tries`: how often the turn was begun, this time included. */
export function failureOf(error: unknown, tries: number, waitsMs: readonly number[]): Failure {
  const known = error instanceof Refusal ? error : null;
  const reason = oneLine(known?.message ?? reasons.ours);
  const waitMs = waitsMs[tries - 1];
  if (mayPass(known) && waitMs !== undefined) {
    const askedMs = (known?.retryAfterSeconds ?? 0) * 1000;
    return { to: 'later', afterMs: Math.min(maxWaitMs, Math.max(waitMs, askedMs)), reason };
  }
  return { to: 'end', reason, text: (known && texts[known.code]) ?? sayings.cannot };
}

/** What is no refusal failed here. An agent that does not answer has perhaps done what it was told. */
const mayPass = (known: Refusal | null): boolean =>
  known === null || passing.includes(known.code) || (known.code === 'agent_unavailable' && known.mayRepeat);
