/**
 * JSON that somebody hostile wrote. Its size is measured before anything reads it, in one pass that allocates nothing and
 * jumps from quote to quote. `JSON.parse` takes 100 times as long over many small values as over one long one, so a bound on
 * bytes alone does not bound time: 8 MiB of `[]` take a second and 200 MB.
 */

export interface JsonBounds {
  /** Most bytes of the text in UTF-8. */
  readonly bytes: number;
  /** Deepest nesting of arrays and objects. */
  readonly depth: number;
  /** Most values of any type, at any depth. An empty array or object counts twice. */
  readonly elements: number;
}

/** Thrown when the text is larger than its bounds. It was not parsed. */
export class JsonBoundsError extends Error {
  readonly bound: keyof JsonBounds;
  constructor(bound: keyof JsonBounds, most: number) {
    super(`JSON of more than ${most} ${bound === 'depth' ? 'levels' : bound}`);
    this.name = 'JsonBoundsError';
    this.bound = bound;
  }
}

/** Reads JSON within bounds. Throws `JsonBoundsError` beyond them, and `SyntaxError` for text that is no JSON. */
export function boundedJson(given: string | Uint8Array, bounds: JsonBounds): unknown {
  // A character has at least one byte.
  if (given.length > bounds.bytes) throw new JsonBoundsError('bytes', bounds.bytes);
  const text = typeof given === 'string' ? given : utf8.decode(given);
  measure(text, bounds);
  return JSON.parse(text);
}

const utf8 = new TextDecoder();

/**
 * Measures text in the same time whether or not it is JSON. `JSON.parse` reads only text within the bounds before it fails.
 */
function measure(text: string, { depth: maxDepth, elements: maxElements }: JsonBounds): void {
  let depth = 0;
  let elements = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        elements += 1;
        if (depth > maxDepth) throw new JsonBoundsError('depth', maxDepth);
        if (elements > maxElements) throw new JsonBoundsError('elements', maxElements);
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
        elements += 1;
        if (elements > maxElements) throw new JsonBoundsError('elements', maxElements);
        break;
      default:
    }
  }
}

/**
 * Returns the index of the closing quote, or the text's length. A run of backslashes stands before one quote, so it is
 * counted once.
 */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === 0x5c) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return text.length;
}
