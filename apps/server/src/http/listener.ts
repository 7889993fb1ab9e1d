import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { App, NetworkSettings } from './context.ts';
import { isUpgrade, throughRouter } from './upgrade.ts';

/** A client has this long to send its headers, and a whole request. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 60_000, connectionsCheckingInterval: 2_000 };
const defaultMaxConnections = 10_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Makes the server that the app's router answers on: an upgrade goes through the router like any other request. Slow clients
 * are cut off: each holds one connection for a bounded time.
 */
export function serverFactory({ tls }: Partial<NetworkSettings>) {
  return (router: Handler, { keepAliveTimeout }: { readonly keepAliveTimeout?: number }): Server => {
    const options = { ...timeouts, ...(keepAliveTimeout && { keepAliveTimeout }), shouldUpgradeCallback: isUpgrade };
    const server = tls ? createTlsServer({ ...options, ...tls }, router) : createServer(options, router);
    return server.on('upgrade', throughRouter(router));
  };
}

export function limitConnections(app: App, network: NetworkSettings | undefined): void {
  app.server.maxConnections = network?.maxConnections ?? defaultMaxConnections;
}
