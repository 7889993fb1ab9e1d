/** The one way to a gateway inside a guest. */
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';

/** Bound on connecting. A gateway is one hop away on this host, so it accepts a connection at once or not at all. */
const connectTimeoutMs = 5_000;

/**
 * Makes a connection per request. An address may be another agent's a moment later, and a clone's connection would be dead.
 */
const dispatcher = new Agent({
  pipelining: 0,
  connect: { timeout: connectTimeoutMs },
  // The request's signal is the only bound.
  headersTimeout: 0,
  bodyTimeout: 0,
});

export interface GatewayRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** The body, sent as JSON. */
  readonly body: object | undefined;
  readonly signal: AbortSignal;
}

export type GatewayReply = Dispatcher.ResponseData;

/** Resolves with the reply's head. The signal bounds head and body alike. */
export function send(url: string, { method, headers, body, signal }: GatewayRequest): Promise<GatewayReply> {
  const { origin, pathname, search } = new URL(url);
  return dispatcher.request({
    origin,
    path: pathname + search,
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    body: body ? JSON.stringify(body) : null,
    signal,
  });
}

/** Reads a body. A body longer than `maxBytes` is refused before it is whole. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`the reply is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
