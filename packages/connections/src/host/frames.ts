/** Frames of WebSockets (RFC 6455, 5.2), read while they pass. Whoever sends them is hostile. */

interface Taken {
  /** Payload in the clear. */
  readonly payload: Buffer;
  /** Where in the given bytes the last frame ended; 0 where none did. */
  readonly whole: number;
}

const opcodes = new Set([0, 1, 2, 8, 9, 10]);

export class Frames {
  readonly #isMasked: boolean;
  #head: number[] = [];
  #mask: readonly number[] = [];
  #left = 0;
  #at = 0;

  constructor(isMasked: boolean) {
    this.#isMasked = isMasked;
  }

  /** Takes bytes. Null where they are no plain frames: with an extension, such as compression, or masked by the wrong side. */
  push(bytes: Buffer): Taken | null {
    const payload = Buffer.from(bytes);
    let [read, written, whole] = [0, 0, 0];
    while (read < bytes.length) {
      if (this.#left === 0) {
        this.#head.push(bytes[read]!);
        read += 1;
        const begun = this.#begin();
        if (begun === 'refused') return null;
        if (begun === 'empty') whole = read;
        continue;
      }
      const part = Math.min(this.#left, bytes.length - read);
      for (let n = 0; n < part; n += 1) {
        payload[written + n] = bytes[read + n]! ^ (this.#isMasked ? this.#mask[(this.#at + n) % 4]! : 0);
      }
      this.#at += part;
      this.#left -= part;
      read += part;
      written += part;
      if (this.#left === 0) whole = read;
    }
    return { payload: payload.subarray(0, written), whole };
  }

  /** Reads the head once it is whole. */
  #begin(): 'more' | 'empty' | 'begun' | 'refused' {
    const [first = 0, second = 0] = this.#head;
    if ((first & 0x70) !== 0 || !opcodes.has(first & 0x0f)) return 'refused';
    if (this.#head.length < 2) return 'more';
    if (second >> 7 !== (this.#isMasked ? 1 : 0)) return 'refused';
    const short = second & 0x7f;
    const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
    if (this.#head.length < 2 + lengthBytes + (this.#isMasked ? 4 : 0)) return 'more';
    const length = this.#head.slice(2, 2 + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
    this.#left = lengthBytes === 0 ? short : length;
    this.#mask = this.#head.slice(2 + lengthBytes);
    this.#at = 0;
    this.#head = [];
    if (!Number.isSafeInteger(this.#left)) return 'refused';
    return this.#left === 0 ? 'empty' : 'begun';
  }
}
