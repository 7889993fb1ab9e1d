/**
 * Bounds JSON before anything parses it, while it comes in pieces: as a whole, or as the events of a stream. The time of
 * `JSON.parse` depends on the number of its values, not of its bytes.
 */
export class JsonMeter {
  readonly #most: { readonly bytes: number; readonly depth: number; readonly elements: number };
  #bytes = 0;
  #depth = 0;
  #elements = 0;
  #inText = false;
  #escaped = false;

  constructor(most: { readonly bytes: number; readonly depth: number; readonly elements: number }) {
    this.#most = most;
  }

  /** Returns false when the text exceeds its bounds. */
  takes(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#most.bytes) return false;
    for (const byte of chunk) this.#see(byte);
    return this.#elements <= this.#most.elements && this.#depth <= this.#most.depth;
  }

  #see(byte: number): void {
    // No string of JSON contains a line end, so a new event begins here.
    if (byte === 0x0a || byte === 0x0d) {
      this.#inText = this.#escaped = false;
    } else if (this.#inText) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === 0x5c) this.#escaped = true;
      else if (byte === 0x22) this.#inText = false;
    } else this.#seeSign(byte);
  }

  #seeSign(byte: number): void {
    switch (byte) {
      case 0x22: // "
        this.#inText = true;
        break;
      case 0x5b: // [
      case 0x7b: // {
        this.#depth += 1;
        this.#elements += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        this.#depth = Math.max(0, this.#depth - 1);
        break;
      case 0x2c: // ,
        this.#elements += 1;
        break;
      default:
    }
  }
}
