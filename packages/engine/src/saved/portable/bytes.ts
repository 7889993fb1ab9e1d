import { ImportProblem } from './problem.ts';

export type Bytes = AsyncIterable<Uint8Array>;

/** Takes exact numbers of bytes from a stream of chunks. Never holds more than one chunk and what was asked for. */
export class ByteSource {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(from: Bytes) {
    this.chunks = from[Symbol.asyncIterator]();
  }

  /** Returns at most `count` bytes: fewer at the end of the stream alone. */
  async upTo(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let left = count;
    for await (const part of this.pieces(count)) {
      parts.push(part);
      left -= part.length;
      if (left === 0) break;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** Returns exactly `count` bytes. */
  async exactly(count: number): Promise<Buffer> {
    const bytes = await this.upTo(count);
    if (bytes.length < count) throw cutShort();
    return bytes;
  }

  /** All that is left, as it comes. */
  toEnd(): AsyncGenerator<Buffer> {
    return this.pieces(Infinity);
  }

  /** The next `count` bytes, as they come. */
  async *pass(count: number): AsyncGenerator<Buffer> {
    let left = count;
    for await (const part of this.pieces(count)) {
      left -= part.length;
      yield part;
    }
    if (left > 0) throw cutShort();
  }

  private async *pieces(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      if (this.rest.length === 0) {
        const next = await this.chunks.next();
        if (next.done) return;
        const { buffer, byteOffset, byteLength } = next.value;
        this.rest = Buffer.from(buffer, byteOffset, byteLength);
        continue;
      }
      const part = this.rest.subarray(0, left);
      this.rest = this.rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }
}

const cutShort = (): ImportProblem => new ImportProblem('it is cut short');

/** Counts bytes on their way, and throws what `tooMany` gives when they are more than `max`. */
export async function* atMost(bytes: Bytes, max: number, tooMany: () => Error): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.length;
    if (count > max) throw tooMany();
    yield chunk;
  }
}
