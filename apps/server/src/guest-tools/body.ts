/** Bodies of guests' requests. */
import type { IncomingMessage } from 'node:http';
import { JsonBoundsError } from '@lodge/domain';

/** Reads a body. Throws a `JsonBoundsError` for a longer one, whose rest is not read. */
export async function bodyOf(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // An abandoned body is not destroyed, because a reply goes out on the same connection.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new JsonBoundsError('bytes', maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
