/** The one way to a gateway inside a guest. */
import type { Socket } from 'node:net';
import { NamedError } from '@lodge/domain';
import { guestAddress } from '@lodge/guest';
import type { Dial, GuestConnection } from '@lodge/ports';
import { Client } from 'undici';
import type { Dispatcher } from 'undici';

/** Bound on connecting. A gateway is one hop away, so it accepts a connection at once or not at all. */
const connectTimeoutMs = 5_000;

/** The request's signal is its only bound. */
const unbounded = { pipelining: 0, headersTimeout: 0, bodyTimeout: 0 } as const;

/** Thrown when no connection came about, so nothing of a request has happened. */
export class NotConnectedError extends NamedError {}

/** A URL's beginning for a port of a guest, by the guest's own name for itself. */
export const originAt = (port: number): string => `http://${guestAddress}:${port}`;

export interface GatewayRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** The body, sent as JSON. */
  readonly body: object | undefined;
  readonly signal: AbortSignal;
}

export type GatewayReply = Dispatcher.ResponseData;

/**
 * Resolves with the reply's head. The signal bounds head and body alike. Each request has a connection of its own, because
 * one that was open when the guest was cloned, paused or moved would be dead.
 */
export async function send(
  dial: Dial,
  url: string,
  { method, headers, body, signal }: GatewayRequest,
): Promise<GatewayReply> {
  const { origin, port, pathname, search } = new URL(url);
  const socket = await connected(dial, Number(port || 80), signal);
  const client = clientOver(socket, origin);
  try {
    return await client.request({
      path: pathname + search,
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
      signal,
    });
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    // It ends with its one answer.
    client.close().catch(() => undefined);
  }
}

/**
 * A client of this one connection. It asks for another when a request was given up, and gets none. It must not be answered
 * while it asks: it would send nothing.
 */
function clientOver(socket: GuestConnection, origin: string): Client {
  let isTaken = false;
  return new Client(origin, {
    ...unbounded,
    connect: (_, done) =>
      queueMicrotask(() => {
        if (isTaken) return done(new Error('its connection has ended'), null);
        isTaken = true;
        // Drivers' connections are sockets, which is what undici is written for.
        done(null, socket as Socket);
      }),
  });
}

async function connected(dial: Dial, port: number, signal: AbortSignal): Promise<GuestConnection> {
  try {
    return await dial(port, AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]));
  } catch (cause) {
    signal.throwIfAborted();
    throw new NotConnectedError(`not connected (${(cause as Error).message})`, { cause });
  }
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
