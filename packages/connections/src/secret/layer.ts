import { Track, gap, maxValues } from './track.ts';
import type { Targets } from './track.ts';
import { Unescaped } from './unescaped.ts';

/** Bytes that a layer takes at once. With the bytes held back they are still few enough for the next layer. */
export const maxBytes = maxValues - 64;

const none = 0xff;
const nibbles = new Uint8Array(256).fill(none);
for (const [at, sign] of Array.from('0123456789abcdef').entries()) {
  nibbles[sign.charCodeAt(0)] = at;
  nibbles[sign.toUpperCase().charCodeAt(0)] = at;
}
const sextets = new Uint8Array(256).fill(none);
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (const [at, sign] of Array.from(alphabet).entries()) sextets[sign.charCodeAt(0)] = at;
sextets['-'.charCodeAt(0)] = 62;
sextets['_'.charCodeAt(0)] = 63;

/** Scratch space for one `push` of any layer: digits of a text, with the one before them, and the bytes that they mean. */
const digits = new Uint8Array(maxValues + 1);
const said = new Uint16Array(maxValues);

/**
 * A text as it is, and its bytes in hexadecimal and base64. The text without its escapes is the next layer. Escapes of
 * escapes (`depth` 2) are single characters in which nobody writes base64, and nobody escapes hexadecimal digits.
 */
export class Layer {
  readonly #plain: Track;
  readonly #hex: readonly Track[];
  readonly #base64: readonly Track[];
  readonly #next: { readonly layer: Layer; readonly unescaped: Unescaped; readonly bytes: Uint8Array } | null;
  #nibble = none;
  #nibbleCount = 0;
  #sextet = none;
  #sextetCount = 0;

  constructor(targets: Targets, depth: number, next: Layer | null) {
    const tracks = (length: number): readonly Track[] => Array.from({ length }, () => new Track(targets));
    this.#plain = new Track(targets);
    this.#hex = tracks(depth === 0 ? 2 : 0);
    this.#base64 = tracks(depth < 2 ? 4 : 0);
    this.#next = next && { layer: next, unescaped: new Unescaped(), bytes: new Uint8Array(maxValues) };
  }

  /** Takes bytes. True when a whole secret ends within the first `count` bytes. */
  push(bytes: Uint8Array, count: number): boolean {
    const plain = this.#plain.push(bytes, count);
    const hex = this.#pushHex(bytes, count);
    const base64 = this.#pushBase64(bytes, count);
    if (this.#next === null) return plain || hex || base64;
    const { layer, unescaped, bytes: into } = this.#next;
    const next = layer.push(into, unescaped.push(bytes, count, into));
    return plain || hex || base64 || next;
  }

  /** Ends the text, with the bytes held back of an escape as text. */
  end(): boolean {
    if (this.#next === null) return false;
    const { layer, unescaped, bytes } = this.#next;
    const last = layer.push(bytes, unescaped.end(bytes));
    return layer.end() || last;
  }

  /** Reads hexadecimal from each of two places, because the beginning of the text is unknown. */
  #pushHex(bytes: Uint8Array, count: number): boolean {
    if (this.#hex.length === 0) return false;
    digits[0] = this.#nibble;
    for (let at = 0; at < count; at += 1) digits[at + 1] = nibbles[bytes[at]!]!;
    let found = false;
    for (let place = 0; place < this.#hex.length; place += 1) {
      const first = (place + this.#nibbleCount) & 1;
      if (this.#hex[place]!.push(said, bytesOfHex(first, count))) found = true;
    }
    this.#nibble = digits[count]!;
    this.#nibbleCount = (this.#nibbleCount + count) & 1;
    return found;
  }

  /** Reads base64 from each of four places. */
  #pushBase64(bytes: Uint8Array, count: number): boolean {
    if (this.#base64.length === 0) return false;
    digits[0] = this.#sextet;
    let length = 0;
    for (let at = 0; at < count; at += 1) {
      const byte = bytes[at]!;
      // Lines of base64 are cut anywhere.
      if (byte === 0x0a || byte === 0x0d) continue;
      length += 1;
      digits[length] = sextets[byte]!;
    }
    let found = false;
    for (let place = 0; place < this.#base64.length; place += 1) {
      if (this.#base64[place]!.push(said, bytesOfBase64((place + this.#sextetCount) & 3, length))) found = true;
    }
    this.#sextet = digits[length]!;
    this.#sextetCount = (this.#sextetCount + length) & 3;
    return found;
  }
}

/** Returns the bytes of hexadecimal digits. Every second digit ends a byte, beginning with the digit `first`. */
function bytesOfHex(first: number, count: number): number {
  const [from, into] = [digits, said];
  let length = 0;
  for (let at = 1 + first; at <= count; at += 2) {
    const [high, low] = [from[at - 1]!, from[at]!];
    into[length] = high === none || low === none ? gap : (high << 4) | low;
    length += 1;
  }
  return length;
}

/**
 * Returns the bytes of base64 digits. The first of four digits ends no byte, and each other one does. `turn` tells which of
 * the four comes first.
 */
function bytesOfBase64(turn: number, count: number): number {
  const [from, into] = [digits, said];
  let length = 0;
  for (let at = 1; at <= count; at += 1) {
    const which = (turn + at - 1) & 3;
    if (which === 0) continue;
    const [before, digit] = [from[at - 1]!, from[at]!];
    const byte = ((before << (2 * which)) | (digit >> (6 - 2 * which))) & 0xff;
    into[length] = before === none || digit === none ? gap : byte;
    length += 1;
  }
  return length;
}
