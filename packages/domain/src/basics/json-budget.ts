export interface JsonBounds {
  /** Most bytes of the text in UTF-8. */
  readonly bytes: number;
  /** Deepest nesting of arrays and objects. */
  readonly depth: number;
  /** Most values of any type, at any depth. An empty array or object counts twice. */
  readonly elements: number;
}

const utf8 = new TextDecoder();

/**
 * Measures JSON against its bounds before anything reads it, as a whole or piece by piece as it arrives. The pass is linear,
 * jumps from quote to quote, and holds nothing but where it is. Text that is no JSON is measured in the same time; the part of
 * it that `JSON.parse` reads before it fails is within the bounds.
 */
export class JsonBudget {
  readonly #bounds: JsonBounds;
  readonly #hasLines: boolean;
  #bytes = 0;
  #depth = 0;
  #elements = 1;
  #inString = false;
  /** The piece before ended with a backslash that escapes the next character. */
  #isEscaped = false;
  /** Index in the piece where the line ends in which the pass is. */
  #lineEnd = Infinity;

  /** `lines`: the text is a stream of events. A line's end, which no text of JSON has in it, ends a string there. */
  constructor(bounds: JsonBounds, form: 'text' | 'lines' = 'text') {
    this.#bounds = bounds;
    this.#hasLines = form === 'lines';
  }

  /** The bound that the text is beyond with this piece, or null. Nothing is to be given to it after that. */
  exceeds(piece: string | Uint8Array): keyof JsonBounds | null {
    this.#bytes += piece.length;
    if (this.#bytes > this.#bounds.bytes) return 'bytes';
    // A character that is cut between two pieces becomes another one, which is no sign of JSON either.
    const text = typeof piece === 'string' ? piece : utf8.decode(piece);
    if (!this.#hasLines) return this.#scan(text);
    this.#lineEnd = -1;
    return this.#scan(text.replaceAll('\r', '\n'));
  }

  #scan(text: string): 'depth' | 'elements' | null {
    const { depth: maxDepth, elements: maxElements } = this.#bounds;
    let depth = this.#depth;
    let elements = this.#elements;
    for (let at = this.#inString ? this.#endOfString(text, 0) : 0; at < text.length; at += 1) {
      switch (text.charCodeAt(at)) {
        case 0x22: // "
          at = this.#endOfString(text, at + 1) - 1;
          break;
        case 0x5b: // [
        case 0x7b: // {
          depth += 1;
          elements += 1;
          if (depth > maxDepth) return 'depth';
          if (elements > maxElements) return 'elements';
          break;
        case 0x5d: // ]
        case 0x7d: // }
          if (depth > 0) depth -= 1;
          break;
        case 0x2c: // ,
          elements += 1;
          if (elements > maxElements) return 'elements';
          break;
        default:
      }
    }
    this.#depth = depth;
    this.#elements = elements;
    return null;
  }

  /** Index behind the string that goes on at `from`, or the text's length where a later piece ends it. */
  #endOfString(text: string, from: number): number {
    if (this.#lineEnd < from) this.#lineEnd = lineEndOf(text, from);
    const end = Math.min(this.#lineEnd, text.length);
    for (let quote = text.indexOf('"', from); quote !== -1 && quote < end; quote = text.indexOf('"', quote + 1)) {
      if (this.#escapes(text, from, quote)) continue;
      this.#inString = this.#isEscaped = false;
      return quote + 1;
    }
    this.#inString = end === text.length;
    this.#isEscaped = this.#inString && this.#escapes(text, from, end);
    return end;
  }

  /** Whether backslashes before this index escape what stands there. A run of them stands before one index, so it is counted once. */
  #escapes(text: string, from: number, index: number): boolean {
    let first = index;
    while (first > from && text.charCodeAt(first - 1) === 0x5c) first -= 1;
    const isOdd = ((index - first) & 1) === 1;
    return first === from && this.#isEscaped ? !isOdd : isOdd;
  }
}

/** Index of the next line's end, or the text's length. */
function lineEndOf(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? text.length : at;
}
