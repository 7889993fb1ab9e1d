/** A piece of a runtime's log from the guest's daemon. Lines are bounded before a runtime reads them. */
import { asObject, boundedJson, textBounds, withoutControlSequences } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { maxLogLine } from '@lodge/ports';

/** Bytes requested at once. A JSON reply may need six for each. */
export const logPieceBytes = textBounds.logLine.bytes;
/** More lines than an agent's log accepts at once (`CollectorTiming.rate`). */
const maxLines = 2_000;

export interface LogPiece {
  /** The lines that are not empty, as they were written. A line is at most as long as the piece. */
  readonly lines: readonly string[];
  /** Number of further lines. */
  readonly leftOut: number;
}

export function logPiece(text: string): LogPiece {
  const lines: string[] = [];
  let leftOut = 0;
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    if (end > start) {
      if (lines.length < maxLines) lines.push(text.slice(start, end));
      else leftOut += 1;
    }
    start = end + 1;
  }
  return { lines, leftOut };
}

/** A gateway's token is 64 hexadecimal digits. Text that looks like one is removed. */
const tokenLike = /(?<![0-9a-f])[0-9a-f]{64,}/gi;

/**
 * Returns the line as a person would read it, cut and without tokens. A cut line is one character longer than `maxLogLine`,
 * so the remover of secrets recognises it.
 */
export const plainLine = (raw: string): string =>
  withoutControlSequences(raw.slice(0, maxLogLine + 1))
    .trimEnd()
    .replaceAll(tokenLike, '[token]');

/** Parses a logger's line in JSON. Null when it is none, or larger than any logger writes. */
export function jsonLine(raw: string): Json | null {
  if (!raw.startsWith('{')) return null;
  try {
    return asObject(boundedJson(raw, textBounds.logLine));
  } catch {
    return null;
  }
}
