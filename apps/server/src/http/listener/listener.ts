import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { endStalledReply } from '@lodge/domain';
import { hasBody } from '../agent-urls/headers.ts';
import type { NetworkSettings } from '../context.ts';
import { Connections } from './connections.ts';
import type { ConnectionPlaces } from './places.ts';
import { isUpgrade, throughRouter } from './upgrade.ts';

const usualBounds = { handshakeMs: 10_000, headersMs: 15_000, bodyMs: 60_000, stalledMs: 30_000 };

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Receives requests of other hosts than the API's; returns false, and does nothing, for the API's. */
export interface OtherHosts {
  takes(request: IncomingMessage, response: ServerResponse): boolean;
  takesUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
}

interface Parts {
  readonly hosts: OtherHosts;
  readonly places: ConnectionPlaces;
  /** Aborts when the server is about to close. */
  readonly closing?: AbortSignal;
}

/** Bounds for a TLS handshake, a request's head, a body at the API, and a reply that nobody reads; in milliseconds. */
type Bounds = typeof usualBounds;

/**
 * Makes the server that the app's router answers on: an upgrade goes through the router like any other request. Slow clients
 * are cut off, so each holds one connection for a bounded time. One that reads a reply slowly stays, one that does not read
 * is cut.
 */
export function serverFactory(
  { tls }: Partial<NetworkSettings>,
  { hosts, places, closing, ...bounds }: Parts & Partial<Bounds>,
) {
  const { handshakeMs, headersMs, bodyMs, stalledMs } = { ...usualBounds, ...bounds };
  return (router: Handler, { keepAliveTimeout }: { readonly keepAliveTimeout?: number }): Server => {
    const options = {
      headersTimeout: headersMs,
      requestTimeout: 0,
      connectionsCheckingInterval: headersMs / 8,
      ...(keepAliveTimeout && { keepAliveTimeout }),
      shouldUpgradeCallback: isUpgrade,
    };
    const connections = new Connections(closing);
    const answer: Handler = (request, response) => {
      connections.count(request, response);
      endStalledReply(response, stalledMs);
      if (hosts.takes(request, response)) return;
      if (hasBody(request)) boundBody(request, bodyMs, (late) => cutOff(server, late, request, response));
      router(request, response);
    };
    const server: Server = tls
      ? createTlsServer({ ...options, ...tls, handshakeTimeout: handshakeMs }, answer)
      : createServer(options, answer);
    connections.watch(server, tls != null);
    places.guard(server);
    const upgrade = throughRouter(router);
    return server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Data written after an upgrade bypasses any reply.
      endStalledReply({ req: request, writableLength: 0, once: socket.once.bind(socket) }, stalledMs);
      if (!hosts.takesUpgrade(request, socket, head)) upgrade(request, socket, head);
    });
  };
}

/** Writes nothing into a reply that has begun. */
function cutOff(server: Server, late: Error, { socket }: IncomingMessage, { headersSent }: ServerResponse): void {
  if (headersSent) socket.destroy();
  else server.emit('clientError', late, socket);
}

interface Bound {
  timer: NodeJS.Timeout;
  readonly end: () => void;
}
const bounds = new WeakMap<IncomingMessage, Bound>();

/**
 * Bounds a body, also after a reply, which may come before the body has ended. At agents' addresses any traffic is enough.
 */
function boundBody(request: IncomingMessage, ms: number, cut: (late: Error) => void): void {
  const end = (): void => {
    if (!request.complete) cut(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }));
  };
  const bound: Bound = { timer: setTimeout(end, ms).unref(), end };
  bounds.set(request, bound);
  request.once('close', () => clearTimeout(bound.timer));
}

/** Extends the time of a larger body of an admitted client, from now. */
export function extendBody(request: IncomingMessage, ms: number): void {
  const bound = bounds.get(request);
  if (bound === undefined || request.complete) return;
  clearTimeout(bound.timer);
  bound.timer = setTimeout(bound.end, ms).unref();
}
