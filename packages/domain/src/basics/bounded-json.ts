/**
 * JSON that somebody hostile wrote. Its size is measured before anything reads it. `JSON.parse` takes 100 times as long over
 * many small values as over one long one, so a bound on bytes alone does not bound time: 8 MiB of `[]` take a second and
 * 200 MB.
 */
import { JsonBudget } from './json-budget.ts';
import type { JsonBounds } from './json-budget.ts';
import { NamedError } from './named-error.ts';

/** Thrown when the text is larger than its bounds. It was not parsed. */
export class JsonBoundsError extends NamedError {
  readonly bound: keyof JsonBounds;
  constructor(bound: keyof JsonBounds, most: number) {
    super(`JSON of more than ${most} ${bound === 'depth' ? 'levels' : bound}`);
    this.bound = bound;
  }
}

/** Reads JSON within bounds. Throws `JsonBoundsError` beyond them, and `SyntaxError` for text that is no JSON. */
export function boundedJson(given: string | Uint8Array, bounds: JsonBounds): unknown {
  // A character has at least one byte.
  if (given.length > bounds.bytes) throw new JsonBoundsError('bytes', bounds.bytes);
  const text = typeof given === 'string' ? given : utf8.decode(given);
  const bound = new JsonBudget(bounds).exceeds(text);
  if (bound !== null) throw new JsonBoundsError(bound, bounds[bound]);
  return JSON.parse(text);
}

const utf8 = new TextDecoder();

/** A JSON object from outside, with unknown fields. */
export type Json = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns null for a value that is no JSON object. */
export const asObject = (value: unknown): Json | null => (isJsonObject(value) ? value : null);
