/** Removes escapes from text, byte by byte: percent-encoding, backslashes of JSON and JavaScript, references of HTML. */

const [percent, backslash, ampersand] = [0x25, 0x5c, 0x26];
const named: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };
const controls: Readonly<Record<string, number>> = { b: 8, t: 9, n: 10, f: 12, r: 13 };
/** Longest escape; longer ones are text. */
const maxChars = 12;

/** The bytes of an escape; `more` when it may be the beginning of one; `none` when it is text. */
type Read = readonly number[] | 'more' | 'none';

/** Unescapes a text in pieces. It never holds back more than `maxChars` bytes. */
export class Unescaped {
  #held = '';
  #into: Uint8Array = new Uint8Array(0);
  #count = 0;

  /** Writes the unescaped first `count` bytes and returns their number, at most `maxChars` more than were given. */
  push(bytes: Uint8Array, count: number, into: Uint8Array): number {
    this.#into = into;
    let written = 0;
    for (let at = 0; at < count; at += 1) {
      const byte = bytes[at]!;
      const isText = byte !== percent && byte !== backslash && byte !== ampersand && this.#held === '';
      if (isText) {
        into[written] = byte;
        written += 1;
      } else {
        this.#count = written;
        this.#hold(byte);
        written = this.#count;
      }
    }
    return written;
  }

  /** Ends the text, with the bytes held back as text. */
  end(into: Uint8Array): number {
    this.#into = into;
    this.#count = 0;
    while (this.#held !== '') this.#giveUp();
    return this.#count;
  }

  #emit(byte: number): void {
    this.#into[this.#count] = byte;
    this.#count += 1;
  }

  #hold(byte: number): void {
    this.#held += String.fromCharCode(byte);
    const read = this.#held.length > maxChars ? 'none' : escapeOf(this.#held);
    if (read === 'none') this.#giveUp();
    else if (read !== 'more') {
      this.#held = '';
      for (const each of read) this.#emit(each);
    }
  }

  /** Writes the first byte as text; the others may be another escape. */
  #giveUp(): void {
    const held = this.#held;
    this.#held = '';
    this.#emit(held.charCodeAt(0));
    for (let at = 1; at < held.length; at += 1) {
      const byte = held.charCodeAt(at);
      const begins = byte === percent || byte === backslash || byte === ampersand;
      if (begins || this.#held !== '') this.#hold(byte);
      else this.#emit(byte);
    }
  }
}

function escapeOf(held: string): Read {
  if (held.length === 1) return 'more';
  switch (held.charCodeAt(0)) {
    case percent:
      return digits(held, 1, 2, (code) => [code]);
    case backslash:
      return backslashed(held);
    default:
      return reference(held);
  }
}

function backslashed(held: string): Read {
  const sign = held[1]!;
  if (sign === 'u') return held.length === 2 ? 'more' : digits(held, 2, 4, utf8);
  if (sign === 'x') return held.length === 2 ? 'more' : digits(held, 2, 2, utf8);
  if (Object.hasOwn(controls, sign)) return [controls[sign]!];
  return `\\/"'\``.includes(sign) ? [sign.charCodeAt(0)] : 'none';
}

function digits(held: string, from: number, count: number, toBytes: (code: number) => readonly number[]): Read {
  const found = held.slice(from);
  if (!/^[0-9a-f]{1,4}$/i.test(found)) return 'none';
  return found.length < count ? 'more' : toBytes(Number.parseInt(found, 16));
}

function reference(held: string): Read {
  if (!held.endsWith(';')) return /^&(?:#(?:[0-9]{0,7}|x[0-9a-f]{0,6})|[a-z]{1,4})$/i.test(held) ? 'more' : 'none';
  const name = held.slice(1, -1).toLowerCase();
  if (Object.hasOwn(named, name)) return [named[name]!];
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return name.startsWith('#') && code <= 0x10_ff_ff ? utf8(code) : 'none';
}

const utf8 = (code: number): readonly number[] => (code < 0x80 ? [code] : [...Buffer.from(String.fromCodePoint(code))]);
