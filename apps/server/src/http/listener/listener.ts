import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { hasBody } from '../agent-urls/headers.ts';
import type { App } from '../app-types.ts';
import type { NetworkSettings } from '../context.ts';
import { isUpgrade, throughRouter } from './upgrade.ts';

/** A client has this long to send its headers, and to the API a whole request. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 0, connectionsCheckingInterval: 2_000 };
const bodyTimeoutMs = 60_000;
const defaultMaxConnections = 10_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Whom requests of other hosts than the API's go to: false, and nothing done, for one that is the API's. */
export interface OtherHosts {
  takes(request: IncomingMessage, response: ServerResponse): boolean;
  takesUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
}

/**
 * Makes the server that the app's router answers on: an upgrade goes through the router like any other request. Slow clients
 * are cut off: each holds one connection for a bounded time.
 */
export function serverFactory({ tls }: Partial<NetworkSettings>, hosts: OtherHosts, bodyMs = bodyTimeoutMs) {
  return (router: Handler, { keepAliveTimeout }: { readonly keepAliveTimeout?: number }): Server => {
    const options = { ...timeouts, ...(keepAliveTimeout && { keepAliveTimeout }), shouldUpgradeCallback: isUpgrade };
    const answer: Handler = (request, response) => {
      if (hosts.takes(request, response)) return;
      if (hasBody(request)) boundBody(request, bodyMs, (late) => server.emit('clientError', late, request.socket));
      router(request, response);
    };
    const server: Server = tls ? createTlsServer({ ...options, ...tls }, answer) : createServer(options, answer);
    const upgrade = throughRouter(router);
    return server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (!hosts.takesUpgrade(request, socket, head)) upgrade(request, socket, head);
    });
  };
}

interface Bound {
  timer: NodeJS.Timeout;
  readonly end: () => void;
}
const bounds = new WeakMap<IncomingMessage, Bound>();

/** Also behind a reply, which may come before the body has ended. At agents' addresses it is enough that something passes. */
function boundBody(request: IncomingMessage, ms: number, cut: (late: Error) => void): void {
  const end = (): void => {
    if (!request.complete) cut(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }));
  };
  const bound: Bound = { timer: setTimeout(end, ms).unref(), end };
  bounds.set(request, bound);
  request.once('close', () => clearTimeout(bound.timer));
}

/** A body that is larger than others, of a client who was let in, may take so long from now. */
export function extendBody(request: IncomingMessage, ms: number): void {
  const bound = bounds.get(request);
  if (bound === undefined || request.complete) return;
  clearTimeout(bound.timer);
  bound.timer = setTimeout(bound.end, ms).unref();
}

export function limitConnections(app: App, network: NetworkSettings | undefined): void {
  app.server.maxConnections = network?.maxConnections ?? defaultMaxConnections;
}
