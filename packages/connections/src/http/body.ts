import type { IncomingMessage } from 'node:http';
import type { HeldShare } from '@lodge/domain';
import { Refused } from './refused.ts';

export const tooMuchHeld = (): Refused =>
  new Refused(429, 'rate_limit_exceeded', 'Too many bytes are under way. Try again shortly.', 1);

/**
 * Reads the whole body of a request; null for a method without one. Rejects with a `Refused` beyond the bounds, or when the
 * request breaks off.
 */
export async function bodyOf(
  req: IncomingMessage,
  held: HeldShare,
  requestBytes: number,
  why = `A request may have at most ${requestBytes} bytes.`,
): Promise<Buffer | null> {
  if (req.method === 'GET' || req.method === 'HEAD') {
    const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) !== 0;
    if (hasBody) throw new Refused(400, 'invalid_request', `A ${req.method} has no body here.`);
    return null;
  }
  const tooLarge = new Refused(413, 'request_too_large', why);
  if (Number(req.headers['content-length'] ?? 0) > requestBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // A refusal must still be sent on the same socket.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > requestBytes) throw tooLarge;
    if (!held.take(chunk.length)) throw tooMuchHeld();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
