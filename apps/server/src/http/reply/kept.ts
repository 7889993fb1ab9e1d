/**
 * A reply that is the same for every client: made once, compressed once. Its bytes go out in pieces as the client reads
 * them. So a client that does not read occupies two pieces and not a copy of the whole, over TLS too.
 */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const pieceBytes = 64 * 1024;

export interface Kept {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  /** A hash of the content that fits into an address. */
  readonly version: string;
}

export async function keep(content: string | Buffer, type: string): Promise<Kept> {
  const plain = Buffer.from(content);
  const version = hash('sha256', plain, 'base64url').slice(0, 22);
  return { type, plain, gzip: await promisify(gzip)(plain, { level: 9 }), version };
}

/** Answers with it, or with 304 for a client that has it. Browsers take gzip over plain http too. */
export function sendKept(request: FastifyRequest, reply: FastifyReply, kept: Kept, caching: string): FastifyReply {
  // Both forms have one tag, so it is a weak one.
  const etag = `W/"${kept.version}"`;
  const vary = [reply.getHeader('vary') ?? [], 'accept-encoding'].flat().join(', ');
  reply.headers({ etag, 'cache-control': caching, vary });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const accepted = String(request.headers['accept-encoding']).split(',');
  const isPacked = accepted.some((encoding) => encoding.trim() === 'gzip');
  const bytes = isPacked ? kept.gzip : kept.plain;
  if (isPacked) reply.header('content-encoding', 'gzip');
  reply.type(kept.type).header('content-length', bytes.length);
  return reply.send(Readable.from(piecesOf(bytes), { objectMode: false, highWaterMark: pieceBytes }));
}

/** Yields one piece on each turn of the event loop: others are served in between, and a client that has left is noticed. */
async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (at > 0) await nextTurn();
    yield bytes.subarray(at, at + pieceBytes);
  }
}
