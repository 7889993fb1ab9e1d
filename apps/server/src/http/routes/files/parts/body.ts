import { Refusal } from '@lodge/domain';
import { maxFileBytes } from '@lodge/contract';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { extendBody } from '../../../listener/listener.ts';
import { transferMs } from '../shared.ts';
import { collected } from './collected.ts';

/**
 * Returns how the bytes of a request are taken, once its agent is there: as they come, at most `maxFileBytes`, with the time
 * of a transfer. Refuses a body in another encoding.
 */
export function bodyOf({ headers, raw, body }: FastifyRequest): () => Readable | Uint8Array {
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  if (Number(headers['content-length'] ?? 0) > maxFileBytes) throw tooLarge();
  return () => {
    extendBody(raw, transferMs);
    return body instanceof Readable ? Readable.from(bounded(collected(body)), { objectMode: false }) : Buffer.alloc(0);
  };
}

/** Bounds a body without Content-Length. */
async function* bounded(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxFileBytes) throw tooLarge();
    yield chunk;
  }
}

const tooLarge = (): Refusal =>
  new Refusal('request_too_large', 'A request may bring at most 64 MiB of a file; more comes in parts.');
