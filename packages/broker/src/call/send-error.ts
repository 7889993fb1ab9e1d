import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallError } from './call-error.ts';
import type { Wire } from '../wires/wire.ts';

/** Answers a request with an error in its wire's shape. */
export function sendError(req: IncomingMessage, res: ServerResponse, wire: Wire, error: CallError): void {
  drain(req);
  const body = JSON.stringify(wire.error(error));
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds);
  if (error.final) headers['x-should-retry'] = 'false';
  res.writeHead(error.status, headers).end(body);
}

const maxDrainedBytes = 16 * 1024 * 1024;
const maxDrainedPieces = 64 * 1024;

/** Discards further data of the guest, so that it can read the answer; a body without an end is cut. */
function drain(req: IncomingMessage): void {
  let [bytes, pieces] = [0, 0];
  req.on('data', (piece: Buffer) => {
    bytes += piece.length;
    pieces += 1;
    if (bytes > maxDrainedBytes || pieces > maxDrainedPieces) req.destroy();
  });
  req.resume();
}
