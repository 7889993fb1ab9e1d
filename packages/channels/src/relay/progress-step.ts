/**
 * Decides the next step about the progress that a conversation shows.
 *
 *     nothing ── post, once the turn lasts ── edit, as the agent goes on ── remove, once its answer is sent
 *
 * Everything that is to be sent goes first: while a part waits anywhere in the channel, also one that a limit has put off,
 * nothing is posted or edited. A message stays until the answer of its turn is sent, and then the channel's holder removes
 * it.
 */
import type { ShownProgress } from '@lodge/ports';

export type Step =
  | { readonly do: 'remove'; readonly id: string }
  | { readonly do: 'post'; readonly text: string; readonly claim: number }
  | { readonly do: 'edit'; readonly text: string; readonly id: string };

/** This relay's knowledge of a conversation. Times are of one clock, in ms. */
export interface Known {
  /** The claim of the running turn at the last look. */
  readonly claim: number | null;
  /** The time since which the turn is known to run. */
  readonly since: number;
  /** Earliest time of the next step. */
  dueAt: number;
  /** The message's text; null: this relay has not written anything. */
  text: string | null;
  /** Nothing more is posted or edited for this turn. */
  isGivenUp: boolean;
  /** Messages to remove, one after another. */
  failures: number;
}

export const newlyKnown = (claim: number | null, now: number): Known => ({
  claim,
  since: now,
  dueAt: 0,
  text: null,
  isGivenUp: false,
  failures: 0,
});

/** `afterMs`: a shorter turn shows nothing. */
export function stepOf(
  { claim, said, posted, isAnswering, isSending }: ShownProgress,
  { since, dueAt, text: shown, isGivenUp }: Known,
  now: number,
  afterMs: number,
): Step | null {
  if (now < dueAt) return null;
  if (posted !== null && posted.claim !== claim) return isAnswering ? null : { do: 'remove', id: posted.id };
  if (claim === null || isSending || isGivenUp) return null;
  const text = textOf(said);
  if (posted !== null) return text === shown ? null : { do: 'edit', text, id: posted.id };
  return now - since < afterMs ? null : { do: 'post', text, claim };
}

const working = 'Working…';
/** Bound on the agent's text: its end is shown, because that is new. */
const maxSaidChars = 600;

/** At most some 600 characters: within the bounds of every platform, even with escapes. */
export function textOf(said: string): string {
  const end = tailOf(said.trim());
  return end === '' ? working : `${working}\n\n${end}`;
}

/** Begins at a word, if there is one. */
function tailOf(text: string): string {
  if (text.length <= maxSaidChars) return text;
  const tail = text.slice(-maxSaidChars);
  const space = tail.slice(0, 100).search(/\s/);
  // The cut may leave half a character.
  const from = space === -1 ? (isLowSurrogate(tail.charCodeAt(0)) ? 1 : 0) : space;
  return `…${tail.slice(from).trimStart()}`;
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
