/**
 * Runs one claimed piece of work as a turn of its agent, then ends or postpones it. Until either is written nothing has happened for
 * the store: a process that dies leaves a claim that ends by itself, and the turn is begun again, as often as there are waits.
 */
import { Refusal } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import type { Postponement } from '@lodge/store/work';
import { cutOf } from './cut.ts';
import { failureOf, workReasons } from './failure.ts';
import type { RetryRules, Tried, WorkFailure } from './failure.ts';

export interface AttemptParts<Piece, End> {
  /** Rejects with a `Refusal`, or with the reason of `cut`. It calls `begins` when the turn is on its way to the agent. */
  readonly turn: (piece: Piece, cut: AbortSignal, begins: () => void) => Promise<End>;
  /** The end of a piece that has failed for good. */
  readonly failed: (piece: Piece, failure: WorkFailure) => End;
  /** The end of a piece that somebody in its conversation stopped. */
  readonly stopped?: End;
  readonly end: (piece: Piece, end: End) => Promise<unknown>;
  readonly postpone: (piece: Piece, postponement: Postponement) => Promise<unknown>;
  readonly rules: RetryRules;
  /** Names the work in the log. */
  readonly what: string;
  readonly fields: (piece: Piece) => Readonly<Record<string, unknown>>;
  readonly log: Log;
}

/** Each piece has the number of claims before this one. */
export async function attempt<Piece extends { readonly attempts: number }, End>(
  parts: AttemptParts<Piece, End>,
  piece: Piece,
  cut: AbortSignal,
): Promise<void> {
  const tries = piece.attempts + 1;
  let hasBegun = false;
  let end: End | null;
  try {
    if (tries > parts.rules.waitsMs.length + 1) throw new Refusal('internal_error', workReasons.tooOften);
    end = await parts.turn(piece, cut, () => (hasBegun = true));
  } catch (error) {
    end = await afterError(parts, piece, { error, tries, hasBegun }, cut);
  }
  if (end !== null) await parts.end(piece, end);
}

/** Gives the end; null where the piece is postponed, or another process has it. */
async function afterError<Piece, End>(
  { failed, stopped, postpone, rules, what, fields, log }: AttemptParts<Piece, End>,
  piece: Piece,
  { error, ...tried }: Tried & { readonly error: unknown },
  cut: AbortSignal,
): Promise<End | null> {
  const cause = cutOf(cut);
  if (cause === 'claim_lost') return null;
  if (cause === 'stop' && stopped !== undefined) return stopped;
  if (cause === 'closing') {
    await postpone(piece, { afterMs: 0, reason: workReasons.closing, mayHaveActed: tried.hasBegun });
    return null;
  }
  const failure = failureOf(error, rules, tried);
  const { reason, mayHaveActed, retryAfterMs: afterMs, lackedRoom } = failure;
  log.warn({ err: error, ...fields(piece), retry_after_ms: afterMs }, `${what}: a turn came to nothing`);
  if (afterMs === null) return failed(piece, failure);
  await postpone(piece, { afterMs, reason, mayHaveActed, lackedRoom });
  return null;
}
