/**
 * Takes secrets out of bytes that pass, in linear time and wherever the bytes are cut into chunks. Every run of 16 bytes that
 * a secret has in one of its forms is masked, so a part of it is not told either; of forms shorter than that, every run of 8.
 * The length stays: what counts bytes goes on to be right.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { formsOf } from './forms.ts';

const long = 16;
const short = 8;
const mask = 0x2a; // *

/** What to look for; the same for all answers of a connection. */
export class Needles {
  readonly long = new Set<string>();
  readonly short = new Set<string>();
  /** 1 for two bytes that stand beside each other in a form, and for a byte that stands in one. */
  readonly pairs = new Uint8Array(2 ** 16);
  readonly bytes = new Uint8Array(2 ** 8);

  constructor(secrets: readonly string[]) {
    for (const form of secrets.flatMap(formsOf)) this.#add(form);
  }

  /** The same in steps: a long token has a hundred thousand places to look for, and others wait. */
  static async inSteps(secrets: readonly string[]): Promise<Needles> {
    const needles = new Needles([]);
    for (const form of secrets.flatMap(formsOf)) {
      needles.#add(form);
      await turn();
    }
    return needles;
  }

  get isEmpty(): boolean {
    return this.long.size + this.short.size === 0;
  }

  #add(form: string): void {
    if (form.length < short) return;
    const [size, windows] = form.length < long ? [short, this.short] : [long, this.long];
    for (let at = 0; at + size <= form.length; at += 1) windows.add(form.slice(at, at + size));
    for (let at = 0; at < form.length; at += 1) {
      const byte = form.charCodeAt(at);
      this.bytes[byte] = 1;
      if (at > 0) this.pairs[(form.charCodeAt(at - 1) << 8) | byte] = 1;
    }
  }
}

export class Masker {
  readonly #needles: Needles;
  /** The last bytes, which may be the beginning of a secret: as they came, and as they go on. */
  #held = Buffer.alloc(0);
  #heldOut = Buffer.alloc(0);
  /** How many of the bytes before the next one could stand in a form in this order. */
  #run = 0;

  constructor(needles: Needles) {
    this.#needles = needles;
  }

  /** What can go on. Bytes are held back only while they may be part of a secret. */
  push(chunk: Buffer): Buffer {
    if (this.#needles.isEmpty || chunk.length === 0) return chunk;
    const bytes = Buffer.concat([this.#held, chunk]);
    const out = Buffer.concat([this.#heldOut, chunk]);
    this.#maskFrom(this.#held.length, bytes, out);
    const kept = bytes.length - Math.min(this.#run, long - 1, bytes.length);
    this.#held = bytes.subarray(kept);
    this.#heldOut = out.subarray(kept);
    return out.subarray(0, kept);
  }

  /** The rest. */
  end(): Buffer {
    const rest = this.#heldOut;
    this.#held = this.#heldOut = Buffer.alloc(0);
    this.#run = 0;
    return rest;
  }

  #maskFrom(from: number, bytes: Buffer, out: Buffer): void {
    const { pairs, bytes: known, long: longs, short: shorts } = this.#needles;
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      const goesOn = at > 0 && pairs[(bytes[at - 1]! << 8) | byte] === 1;
      this.#run = goesOn ? this.#run + 1 : known[byte]!;
      if (this.#run >= short && shorts.size > 0) maskWindow(short, at, bytes, out, shorts);
      if (this.#run >= long) maskWindow(long, at, bytes, out, longs);
    }
  }
}

function maskWindow(size: number, end: number, bytes: Buffer, out: Buffer, windows: ReadonlySet<string>): void {
  if (windows.has(bytes.toString('latin1', end + 1 - size, end + 1))) out.fill(mask, end + 1 - size, end + 1);
}

export function maskedText(needles: Needles, text: string): string {
  if (needles.isEmpty) return text;
  const masker = new Masker(needles);
  return Buffer.concat([masker.push(Buffer.from(text)), masker.end()]).toString();
}

/** JSON with every text in it masked, keys too. Its depth was bounded before. */
export function maskedJson(needles: Needles, value: unknown): unknown {
  if (needles.isEmpty) return value;
  if (typeof value === 'string') return maskedText(needles, value);
  if (Array.isArray(value)) return value.map((each) => maskedJson(needles, each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [maskedText(needles, key), maskedJson(needles, each)]),
  );
}
