import type { IncomingMessage } from 'node:http';
import type { Holder, Shares } from '@lodge/domain';
import { Refused } from './refused.ts';

export interface HeldBody {
  readonly body: Buffer | null;
  /** Returns the place of the bytes. */
  readonly free: () => void;
}

export const tooMuchHeld = (): Refused =>
  new Refused(429, 'rate_limit_exceeded', 'Too many bytes are under way. Try again shortly.', 1);

/** Reads the whole body of a request. Rejects with a `Refused` beyond the bounds, or when the request breaks off. */
export async function bodyOf(
  req: IncomingMessage,
  holder: Holder,
  held: Shares,
  requestBytes: number,
): Promise<HeldBody> {
  if (req.method === 'GET' || req.method === 'HEAD') {
    const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) !== 0;
    if (hasBody) throw new Refused(400, 'invalid_request', `A ${req.method} has no body here.`);
    return { body: null, free: () => undefined };
  }
  const tooLarge = new Refused(413, 'request_too_large', `A request may have at most ${requestBytes} bytes.`);
  if (Number(req.headers['content-length'] ?? 0) > requestBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let taken = 0;
  const free = (): void => {
    if (taken > 0) held.giveBack(holder, taken);
    taken = 0;
  };
  try {
    // A refusal must still be sent on the same socket.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (taken + chunk.length > requestBytes) throw tooLarge;
      if (!held.take(holder, chunk.length)) throw tooMuchHeld();
      taken += chunk.length;
      chunks.push(chunk);
    }
    return { body: Buffer.concat(chunks), free };
  } catch (error) {
    free();
    throw error;
  }
}
