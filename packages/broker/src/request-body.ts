import type { IncomingMessage } from 'node:http';
import { CallError, invalidRequest } from './call-error.ts';
import { asObject } from './wires/wire.ts';
import type { Json } from './wires/wire.ts';

/** The request's body as a JSON object with a `model`, of at most `mostBytes`. */
export async function readBody(req: IncomingMessage, mostBytes: number): Promise<Json & { readonly model: string }> {
  if (req.headers['content-encoding'] !== undefined) {
    throw invalidRequest('content_encoding', 'The body must not be compressed.');
  }
  const body = asObject(parse(await readBytes(req, mostBytes)));
  if (!body) throw invalidRequest('invalid_json', 'The body must be a JSON object.');
  if (typeof body.model !== 'string') throw invalidRequest('invalid_model', 'model must be a text.');
  return { ...body, model: body.model };
}

async function readBytes(req: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const tooLarge = new CallError(`The body has more than ${mostBytes} bytes.`, {
    status: 413,
    kind: 'too_large',
    code: 'request_too_large',
    outcome: 'refused',
  });
  if (Number(req.headers['content-length'] ?? 0) > mostBytes) throw tooLarge;
  const parts: Buffer[] = [];
  let size = 0;
  // Left early without destroying the stream: the guest is to read the refusal on this connection.
  for await (const part of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > mostBytes) throw tooLarge;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw invalidRequest('invalid_json', 'The body is not valid JSON.');
  }
}
