/**
 * Searches a server's answers for a connection's secrets. Only a whole secret counts, because a report of a partial match
 * would let a guesser find the next character, and so the secret. A secret is found plain and with NULs between (UTF-16), in
 * escapes and in escapes of escapes, and in each of these in hexadecimal and base64, wherever the bytes are cut.
 */
import { loopShare } from '@lodge/domain';
import { Layer, maxBytes } from './layer.ts';
import { Targets, Track } from './track.ts';

/** The prepared secrets of one connection, shared by all its answers. */
export class Sought {
  readonly targets: Targets;

  constructor(secrets: readonly string[]) {
    const spaced = secrets.filter((secret) => secret.includes(' ')).map((secret) => secret.replaceAll(' ', '+'));
    this.targets = new Targets(
      [...secrets, ...spaced].flatMap((secret) => [Buffer.from(secret), Buffer.from(secret, 'latin1')]),
    );
  }

  get isEmpty(): boolean {
    return this.targets.all.length === 0;
  }

  /** Factor of a byte's cost, compared with one or few secrets. */
  get weight(): number {
    return Math.max(1, this.targets.all.length / 4);
  }

  /** Longest form of a secret in bytes, with escapes of each character. */
  get formBytes(): number {
    return 12 * this.targets.longest;
  }

  /** Whether a text contains a whole secret. */
  isIn(text: string): boolean {
    const search = new EchoSearch(this);
    return search.push(Buffer.from(text)) || search.end();
  }
}

/** Depth of escapes: an escape may itself be escaped, as in text within text. */
const escapes = 2;

const stepBytes = 8 * 1024;

/** Scratch space for one `push` of any search. */
const withoutNuls = new Uint8Array(maxBytes);

/** The search of one answer. */
export class EchoSearch {
  readonly #sought: Sought;
  readonly #text: Layer;
  readonly #withoutNuls: Track;
  #isFound = false;

  constructor(sought: Sought) {
    this.#sought = sought;
    let text: Layer | null = null;
    for (let depth = escapes; depth >= 0; depth -= 1) text = new Layer(sought.targets, depth, text);
    this.#text = text!;
    this.#withoutNuls = new Track(sought.targets);
  }

  /** As `Sought.weight`. */
  get weight(): number {
    return this.#sought.weight;
  }

  /** Takes bytes. True when a whole secret came, with these bytes or before. */
  push(bytes: Uint8Array): boolean {
    if (this.#sought.isEmpty) return false;
    for (let at = 0; at < bytes.length && !this.#isFound; at += maxBytes) this.#push(bytes.subarray(at, at + maxBytes));
    return this.#isFound;
  }

  #push(bytes: Uint8Array): void {
    const inText = this.#text.push(bytes, bytes.length);
    let count = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      withoutNuls[count] = byte;
      if (byte !== 0) count += 1;
    }
    this.#isFound = this.#withoutNuls.push(withoutNuls, count) || inText;
  }

  /** As `push`, in small steps among those of other agents. */
  async pushInSteps(agentId: string, bytes: Uint8Array): Promise<boolean> {
    if (this.#sought.isEmpty || bytes.length === 0) return this.#isFound;
    const step = Math.max(256, Math.floor(stepBytes / this.#sought.weight));
    let at = 0;
    await loopShare.run(agentId, () => {
      this.push(bytes.subarray(at, at + step));
      at += step;
      return at < bytes.length;
    });
    return this.#isFound;
  }

  /** Ends the text. True when it contained a whole secret. */
  end(): boolean {
    this.#isFound ||= this.#text.end();
    return this.#isFound;
  }
}
