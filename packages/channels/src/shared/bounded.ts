import { boundedJson, NamedError } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';

/** A body is larger than its bound. The rest of it was not read. */
export class TooLargeError extends NamedError {
  readonly maxBytes: number;
  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/** Passes bytes on. Throws `TooLargeError` beyond `maxBytes`; leaving the loop early ends the source. */
export async function* upTo(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new TooLargeError(maxBytes);
    yield chunk;
  }
}

/** The whole body. Throws `TooLargeError` beyond `maxBytes`. */
export async function readUpTo(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of upTo(body, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Throws `TooLargeError`, domain's `JsonBoundsError`, or `SyntaxError`. */
export async function readJson(body: AsyncIterable<Uint8Array>, bounds: JsonBounds): Promise<unknown> {
  return boundedJson(await readUpTo(body, bounds.bytes), bounds);
}
