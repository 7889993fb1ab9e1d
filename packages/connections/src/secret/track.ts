/** Searches a stream of values for whole byte strings, at the same cost for each value, whatever it is. */
import { randomInt } from 'node:crypto';

/** A value that is no byte, so no searched string contains it. */
export const gap = 0x100;

/** Values that a track takes at once. */
export const maxValues = 4_096;

/** An odd, unknown number. */
const base = randomInt(2 ** 30) * 2 + 1;

/**
 * Most texts with the hash of a target but other bytes in one track; a chance match is one in 2^32 values. Differences whose
 * hash is zero for every base are known (those of Thue and Morse). Whoever chose the target can make one at each byte, and
 * each costs a comparison.
 */
const mostAlike = 16;

interface Target {
  readonly bytes: Uint8Array;
  readonly hash: number;
  /** `base` to the power of the length. */
  readonly power: number;
}

/** The prepared strings to search for. */
export class Targets {
  readonly all: readonly Target[];
  readonly longest: number;

  constructor(strings: readonly Uint8Array[]) {
    const different = new Map(strings.map((bytes) => [Buffer.from(bytes).toString('latin1'), bytes]));
    this.all = [...different.values()].map((bytes) => ({ bytes, ...hashOf(bytes) }));
    this.longest = Math.max(0, ...this.all.map(({ bytes }) => bytes.length));
  }
}

function hashOf(bytes: Uint8Array): { readonly hash: number; readonly power: number } {
  let [hash, power] = [0, 1];
  for (const byte of bytes) {
    hash = (Math.imul(hash, base) + byte + 1) | 0;
    power = Math.imul(power, base);
  }
  return { hash, power };
}

/** Scratch space for one `push` of any track: earlier values, and the new ones. */
let hashes = new Int32Array(0);
let values = new Uint16Array(0);

/**
 * A rolling hash over the last values, for the length of each target. A partial match changes nothing in the work: only a
 * whole match is compared byte by byte. Timing therefore tells a guesser no more than the answer does.
 */
export class Track {
  readonly #targets: Targets;
  /** The last values, as many as the longest target has, and the hash of all values up to each of them. */
  readonly #values: Uint16Array;
  readonly #hashes: Int32Array;
  #alike = 0;

  constructor(targets: Targets) {
    this.#targets = targets;
    this.#values = new Uint16Array(targets.longest).fill(gap);
    this.#hashes = new Int32Array(targets.longest + 1);
  }

  /**
   * Takes values, at most `maxValues`. True when a target ends within the first `count`, or when so many texts were alike
   * that only somebody who knows the target can have made them.
   */
  push(given: Uint8Array | Uint16Array, count: number): boolean {
    const { longest, all } = this.#targets;
    if (hashes.length <= longest + maxValues) {
      hashes = new Int32Array(longest + maxValues + 1);
      values = new Uint16Array(longest + maxValues);
    }
    hashes.set(this.#hashes);
    values.set(this.#values);
    roll(given, count, longest);
    const found = all.some((target) => this.#isWithin(target, longest, count));
    this.#hashes.set(hashes.subarray(count, count + longest + 1));
    this.#values.set(values.subarray(count, count + longest));
    return found;
  }

  #isWithin({ bytes, hash, power }: Target, from: number, count: number): boolean {
    const all = hashes;
    const { length } = bytes;
    for (let at = from + 1; at <= from + count; at += 1) {
      if (((all[at]! - Math.imul(all[at - length]!, power)) | 0) !== hash) continue;
      if (endsAt(at, bytes) || this.#alike >= mostAlike) return true;
      this.#alike += 1;
    }
    return false;
  }
}

function roll(given: Uint16Array | Uint8Array, count: number, from: number): void {
  const [intoHashes, intoValues, by] = [hashes, values, base];
  let hash = intoHashes[from]!;
  for (let at = 0; at < count; at += 1) {
    const value = given[at]!;
    hash = (Math.imul(hash, by) + value + 1) | 0;
    intoValues[from + at] = value;
    intoHashes[from + at + 1] = hash;
  }
}

function endsAt(end: number, bytes: Uint8Array): boolean {
  return bytes.every((byte, index) => values[end - bytes.length + index] === byte);
}
