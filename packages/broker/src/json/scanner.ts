/**
 * Reads JSON as it arrives, byte by byte and in one pass: it holds nothing but where it is, so a text can be fed in pieces
 * of any size, and what a piece costs is in proportion to its size whatever is written in it.
 *
 * It is strict (RFC 8259, an object at the root) and bounded in depth and in values. The scanner does not check for UTF-8:
 * `isUtf8` of node:buffer checks a whole text at once. A watcher learns where the outermost keys and values are, so that
 * only small parts of a large text are ever read.
 */
import { NamedError } from '@lodge/domain';

export interface JsonBounds {
  /** Containers within each other. */
  readonly depth: number;
  /** Values in all, those within others too. */
  readonly values: number;
}

/** More than any honest request, and no more than can be looked through in a moment. */
export const requestBounds: JsonBounds = { depth: 64, values: 200_000 };

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'literal';

/** Receives keys and values with at most `watchedDepth` containers around them. Places are indexes into the whole text. */
export interface JsonWatcher {
  /** `start` is at its first quote, `end` behind its last. `escaped`: a backslash is in it. */
  key(bytes: Uint8Array, depth: number, start: number, end: number, escaped: boolean): void;
  /** A container begins. */
  open(depth: number, start: number, kind: 'object' | 'array'): void;
  /** A value is whole; of a container when it ends. */
  value(bytes: Uint8Array, depth: number, start: number, end: number, kind: JsonKind): void;
}

export const watchedDepth = 3;

/** A text's weight for a model, as far as its bytes show it. */
export interface TextWeight {
  /** Bytes of base64 in fields that hold images and files. */
  embeddedBytes: number;
  /** How many of those there are. */
  embedded: number;
}

/** Not JSON, or more of it than may be. The message is a sentence about "it", without subject. */
export class JsonFault extends NamedError {
  constructor(message = 'is not valid JSON') {
    super(message);
  }
}

// The tokens that may come next. The order matters: states below `inString` are between tokens.
const valueWanted = 0;
const valueOrEnd = 1;
const keyWanted = 2;
const keyOrEnd = 3;
const colonWanted = 4;
const commaOrEnd = 5;
const over = 6;
const inString = 7;
const inLiteral = 8;
const inNumber = 9;

// Where in a number: those that may be its end are even.
const afterMinus = 1;
const afterZero = 2;
const inInteger = 4;
const afterPoint = 3;
const inFraction = 6;
const afterE = 5;
const afterSign = 7;
const inExponent = 8;

// The kind of a byte within a string.
const base64 = 0;
const plain = 1;
const quote = 2;
const backslash = 3;
const control = 4;
const kinds = new Uint8Array(256).fill(plain).fill(control, 0, 0x20);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  kinds[char.charCodeAt(0)] = base64;
kinds[0x22] = quote;
kinds[0x5c] = backslash;

/** `"\/bfnrt`: what may follow a backslash, beside `u`. */
const escapes = new Set([0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]);
const literals = new Map([
  [0x74, Buffer.from('true')],
  [0x66, Buffer.from('false')],
  [0x6e, Buffer.from('null')],
]);

/** Shorter runs of base64 letters are words. */
const shortestEmbedded = 2048;
/** Fields whose text is no text to a model: images and files, and what a provider sealed for itself. */
const embeddingKeys = new Set(
  'data url image_url file_data b64_json result encrypted_content signature thoughtSignature thought_signature'.split(
    ' ',
  ),
);

export class JsonScanner {
  readonly weight: TextWeight = { embeddedBytes: 0, embedded: 0 };
  readonly #bounds: JsonBounds;
  readonly #watcher: JsonWatcher | null;
  /** The open containers, the outermost first: where each begins, and 1 for an object. */
  readonly #starts: Float64Array;
  readonly #isObject: Uint8Array;
  #state = valueWanted;
  #depth = 0;
  #values = 0;
  #at = 0;
  #tokenStart = 0;
  #isKey = false;
  #isEscaped = false;
  /** Bytes of an escape that are still to come: 5 is the one behind the backslash, 4 to 1 are hex digits. */
  #escapeLeft = 0;
  #runStart = 0;
  #keyStart = 0;
  #keyEnd = 0;
  #number = 0;
  #literal: Uint8Array = Buffer.alloc(0);

  constructor(bounds: JsonBounds, watcher: JsonWatcher | null = null) {
    this.#bounds = bounds;
    this.#watcher = watcher;
    this.#starts = new Float64Array(bounds.depth);
    this.#isObject = new Uint8Array(bounds.depth);
  }

  /** Bytes that have been read. */
  get at(): number {
    return this.#at;
  }

  get values(): number {
    return this.#values;
  }

  /** Goes on up to `to`; `bytes` is the text from its beginning. Throws a `JsonFault`. */
  scan(bytes: Uint8Array, to: number): void {
    let at = this.#at;
    while (at < to) {
      if (this.#state < inString) at = this.#between(bytes, at);
      else if (this.#state === inString) at = this.#string(bytes, at, to);
      else if (this.#state === inNumber) at = this.#digits(bytes, at, to);
      else at = this.#word(bytes, at);
    }
    this.#at = at;
  }

  /** To be called behind the last byte. Throws a `JsonFault` when something is missing. */
  end(): void {
    if (this.#state !== over) throw new JsonFault();
  }

  /** A byte between tokens, or the first of one. */
  #between(bytes: Uint8Array, at: number): number {
    const code = bytes[at]!;
    switch (code) {
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        return at + 1;
      case 0x22:
        return this.#beginString(at);
      case 0x2c:
        if (this.#state !== commaOrEnd) throw new JsonFault();
        this.#state = this.#inObject ? keyWanted : valueWanted;
        return at + 1;
      case 0x3a:
        if (this.#state !== colonWanted) throw new JsonFault();
        this.#state = valueWanted;
        return at + 1;
      case 0x7b:
      case 0x5b:
        this.#open(at, code === 0x7b);
        return at + 1;
      case 0x7d:
      case 0x5d:
        this.#close(bytes, at, code === 0x7d);
        return at + 1;
      default:
        return this.#beginScalar(code, at);
    }
  }

  get #inObject(): boolean {
    return this.#isObject[this.#depth - 1] === 1;
  }

  /** A value begins here. */
  #begin(at: number): void {
    if (this.#state > valueOrEnd) throw new JsonFault();
    this.#values++;
    if (this.#values > this.#bounds.values) throw new JsonFault(`has more than ${this.#bounds.values} values`);
    this.#tokenStart = at;
  }

  #open(at: number, isObject: boolean): void {
    this.#begin(at);
    const depth = this.#depth;
    if (depth === 0 && !isObject) throw new JsonFault('must be a JSON object');
    if (depth === this.#bounds.depth) throw new JsonFault(`is nested deeper than ${depth} levels`);
    if (depth <= watchedDepth) this.#watcher?.open(depth, at, isObject ? 'object' : 'array');
    this.#starts[depth] = at;
    this.#isObject[depth] = isObject ? 1 : 0;
    this.#depth = depth + 1;
    this.#state = isObject ? keyOrEnd : valueOrEnd;
  }

  #close(bytes: Uint8Array, at: number, isObject: boolean): void {
    const mayEnd = this.#state === commaOrEnd || this.#state === (isObject ? keyOrEnd : valueOrEnd);
    if (!mayEnd || this.#inObject !== isObject) throw new JsonFault();
    this.#depth--;
    this.#tokenStart = this.#starts[this.#depth]!;
    this.#ended(bytes, at + 1, isObject ? 'object' : 'array');
  }

  #ended(bytes: Uint8Array, end: number, kind: JsonKind): void {
    const depth = this.#depth;
    this.#state = depth === 0 ? over : commaOrEnd;
    if (depth <= watchedDepth) this.#watcher?.value(bytes, depth, this.#tokenStart, end, kind);
  }

  #beginString(at: number): number {
    this.#isKey = this.#state === keyWanted || this.#state === keyOrEnd;
    if (this.#isKey) this.#tokenStart = at;
    else this.#beginText(at);
    this.#state = inString;
    this.#isEscaped = false;
    this.#runStart = at + 1;
    return at + 1;
  }

  #beginText(at: number): void {
    this.#begin(at);
    if (this.#depth === 0) throw new JsonFault('must be a JSON object');
    // In a list there is no key.
    if (!this.#inObject) this.#keyEnd = this.#keyStart;
  }

  #string(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    let run = this.#runStart;
    while (at < to) {
      if (this.#escapeLeft > 0) {
        this.#escape(bytes[at]!);
        run = at + 1;
      } else {
        const kind = kinds[bytes[at]!]!;
        if (kind !== base64) {
          if (at - run >= shortestEmbedded) this.#embeddedRun(bytes, at - run);
          run = at + 1;
          if (kind === quote) return this.#endString(bytes, at + 1);
          if (kind === control) throw new JsonFault();
          if (kind === backslash) {
            this.#isEscaped = true;
            this.#escapeLeft = 5;
          }
        }
      }
      at++;
    }
    this.#runStart = run;
    return at;
  }

  #escape(code: number): void {
    if (this.#escapeLeft === 5) {
      if (code === 0x75) this.#escapeLeft = 4;
      else if (escapes.has(code)) this.#escapeLeft = 0;
      else throw new JsonFault();
    } else {
      const isHex = (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
      if (!isHex) throw new JsonFault();
      this.#escapeLeft--;
    }
  }

  #endString(bytes: Uint8Array, end: number): number {
    if (!this.#isKey) {
      this.#ended(bytes, end, 'string');
      return end;
    }
    this.#keyStart = this.#tokenStart;
    this.#keyEnd = end;
    this.#state = colonWanted;
    if (this.#depth <= watchedDepth) this.#watcher?.key(bytes, this.#depth, this.#keyStart, end, this.#isEscaped);
    return end;
  }

  #embeddedRun(bytes: Uint8Array, length: number): void {
    const keyLength = this.#keyEnd - this.#keyStart;
    if (this.#isKey || keyLength < 2 || keyLength > 32) return;
    if (!embeddingKeys.has(Buffer.from(bytes.subarray(this.#keyStart + 1, this.#keyEnd - 1)).toString('latin1')))
      return;
    this.weight.embedded++;
    this.weight.embeddedBytes += length;
  }

  #beginScalar(code: number, at: number): number {
    this.#begin(at);
    if (this.#depth === 0) {
      const begins = code === 0x2d || (code >= 0x30 && code <= 0x39) || literals.has(code);
      throw new JsonFault(begins ? 'must be a JSON object' : undefined);
    }
    if (code === 0x2d) this.#number = afterMinus;
    else if (code === 0x30) this.#number = afterZero;
    else if (code > 0x30 && code <= 0x39) this.#number = inInteger;
    else {
      const literal = literals.get(code);
      if (!literal) throw new JsonFault();
      this.#literal = literal;
      this.#state = inLiteral;
      return at + 1;
    }
    this.#state = inNumber;
    return at + 1;
  }

  #word(bytes: Uint8Array, at: number): number {
    const place = at - this.#tokenStart;
    if (bytes[at] !== this.#literal[place]) throw new JsonFault();
    if (place === this.#literal.length - 1) this.#ended(bytes, at + 1, 'literal');
    return at + 1;
  }

  /** The byte after a number is not part of it, and is read anew. */
  #digits(bytes: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const code = bytes[at]!;
      const next = nextInNumber(this.#number, code);
      if (next === 0) {
        if (this.#number % 2 === 1) throw new JsonFault();
        this.#ended(bytes, at, 'number');
        return at;
      }
      this.#number = next;
    }
    return to;
  }
}

/** Scans a whole text. Throws a `JsonFault`. */
export function scanJson(bytes: Uint8Array, bounds: JsonBounds, watcher: JsonWatcher | null = null): void {
  const scanner = new JsonScanner(bounds, watcher);
  scanner.scan(bytes, bytes.length);
  scanner.end();
}

/** Where in a number one is behind this byte; 0 when it is no part of it. */
function nextInNumber(where: number, code: number): number {
  if (code >= 0x30 && code <= 0x39) {
    if (where === afterMinus) return code === 0x30 ? afterZero : inInteger;
    if (where === inInteger) return inInteger;
    if (where === afterPoint || where === inFraction) return inFraction;
    return where === afterZero ? 0 : inExponent;
  }
  const inWhole = where === afterZero || where === inInteger;
  if (code === 0x2e) return inWhole ? afterPoint : 0;
  if (code === 0x65 || code === 0x45) return inWhole || where === inFraction ? afterE : 0;
  if (code === 0x2b || code === 0x2d) return where === afterE ? afterSign : 0;
  return 0;
}
