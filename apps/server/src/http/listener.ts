import type { App, NetworkSettings } from './context.ts';

/** A client has this long to send its headers, and a whole request. */
const timeouts = { headersTimeout: 15_000, requestTimeout: 60_000, connectionsCheckingInterval: 2_000 };
const defaultMaxConnections = 10_000;

/** The server's options for its sockets. Slow clients are cut off: each holds one connection for a bounded time. */
export function listenerOptions(network: NetworkSettings | undefined): object {
  const { tls, trustedProxies = [] } = network ?? {};
  return {
    requestTimeout: timeouts.requestTimeout,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    ...(tls ? { https: { ...timeouts, ...tls } } : { http: timeouts }),
  };
}

export function limitConnections(app: App, network: NetworkSettings | undefined): void {
  app.server.maxConnections = network?.maxConnections ?? defaultMaxConnections;
}
