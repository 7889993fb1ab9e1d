import type { IncomingMessage } from 'node:http';

/** A body's chunks. Unlike the stream's own iterator this one leaves the connection open when it is not read to the end. */
export function chunksOf(body: IncomingMessage): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => body.iterator({ destroyOnReturn: false }) };
}
