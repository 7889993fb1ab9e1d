import type { IncomingMessage } from 'node:http';
import { loopShare } from '@lodge/domain';
import type { HeldShare, Shares, TokenBuckets } from '@lodge/domain';
import { ArrivingBody } from '../json/body.ts';
import type { JsonBody } from '../json/body.ts';
import { CallError, invalidRequest, tooMany } from './call-error.ts';

export interface BodyDeps {
  readonly limits: { readonly bodyBytes: number };
  /** Bytes of bodies that are held. */
  readonly bodies: Shares;
  /** Bytes of bodies that each agent sends over time. */
  readonly bodyRate: TokenBuckets;
}

/** Bytes that are looked at in one step: less than a millisecond of work, whatever is in them. */
const stepBytes = 16 * 1024;
/** A body in smaller pieces than this, but for a few, is no client's: each piece costs more than its bytes. */
const meanPieceBytes = 64;
const freePieces = 1024;

/**
 * The request's body, looked through while it comes. Its cost is bounded before its content is known: its bytes, its pieces,
 * the bytes that are kept for its agent and its account, and the time on the event loop.
 */
export async function readBody(
  req: IncomingMessage,
  { limits, bodyRate }: BodyDeps,
  agentId: string,
  held: HeldShare,
): Promise<JsonBody> {
  if (req.headers['content-encoding'] !== undefined) {
    throw invalidRequest('content_encoding', 'The body must not be compressed.');
  }
  if (Number(req.headers['content-length'] ?? 0) > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
  const body = new ArrivingBody();
  let pieces = 0;
  // Left early without destroying the stream: the guest is to read the refusal on this connection.
  for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    pieces++;
    const size = body.size + piece.length;
    if (size > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
    if (pieces > freePieces + size / meanPieceBytes) {
      throw invalidRequest('too_many_pieces', 'The body comes in too many pieces.');
    }
    if (!bodyRate.allows(agentId, performance.now(), piece.length) || !held.take(piece.length)) {
      throw tooMany('too_many_bytes', 'Too much is being sent to models at once. Try again in a moment.', 5);
    }
    body.add(piece);
    await loopShare.run(agentId, () => body.scan(stepBytes));
  }
  return body.end();
}

function tooLarge(maxBytes: number): CallError {
  return new CallError(`The body has more than ${maxBytes} bytes.`, {
    status: 413,
    kind: 'too_large',
    code: 'request_too_large',
    outcome: 'refused',
  });
}
