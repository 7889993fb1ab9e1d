import type { IncomingMessage } from 'node:http';
import { CallError, invalidRequest } from './call-error.ts';
import { JsonBody } from './json-body.ts';

/** The request's body as a JSON object, of at most `maxBytes`. */
export async function readBody(req: IncomingMessage, maxBytes: number): Promise<JsonBody> {
  if (req.headers['content-encoding'] !== undefined) {
    throw invalidRequest('content_encoding', 'The body must not be compressed.');
  }
  return new JsonBody(await readBytes(req, maxBytes));
}

async function readBytes(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = new CallError(`The body has more than ${maxBytes} bytes.`, {
    status: 413,
    kind: 'too_large',
    code: 'request_too_large',
    outcome: 'refused',
  });
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const parts: Buffer[] = [];
  let size = 0;
  // Left early without destroying the stream: the guest is to read the refusal on this connection.
  for await (const part of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) throw tooLarge;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
