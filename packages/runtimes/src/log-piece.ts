/** A piece of a runtime's log, as the daemon in a guest gives it. Lines are bounded before a runtime reads them. */
import { asObject, boundedJson, textBounds, withoutControlSequences } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { maxLogLine } from '@lodge/ports';

/** Bytes asked for at once. A reply in JSON may have six for each. */
export const logPieceBytes = textBounds.logLine.bytes;
/** More than the log of an agent takes at once (`CollectorTiming.rate`). */
const maxLines = 2_000;

export interface LogPiece {
  /** Those with something in them, as they were written. A line is as long as the piece at most. */
  readonly lines: readonly string[];
  /** How many more there were. */
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

/** A gateway's token is 64 hexadecimal digits; whatever looks like one goes. */
const tokenLike = /(?<![0-9a-f])[0-9a-f]{64,}/gi;

/**
 * The line as a person would read it, cut, without tokens. A line that was cut is one character longer than `maxLogLine`, so
 * that whoever cuts secrets out knows.
 */
export const plainLine = (raw: string): string =>
  withoutControlSequences(raw.slice(0, maxLogLine + 1))
    .trimEnd()
    .replaceAll(tokenLike, '[token]');

/** A line that a logger wrote in JSON. Null: it is none, or larger than any logger writes. */
export function jsonLine(raw: string): Json | null {
  if (!raw.startsWith('{')) return null;
  try {
    return asObject(boundedJson(raw, textBounds.logLine));
  } catch {
    return null;
  }
}
