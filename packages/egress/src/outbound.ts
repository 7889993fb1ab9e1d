import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { Agent, buildConnector, request, upgrade } from 'undici';
import type { Dispatcher } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { PrivateAddressError, connected, egressProxyOf, proxyConnector, publicConnector } from './connectors.ts';
import { ofSystem } from './names.ts';
import type { Find } from './names.ts';
import { ownAddresses } from './own-addresses.ts';

export interface OutboundRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** A stream is sent as it comes. */
  readonly body?: Buffer | Readable;
  readonly signal: AbortSignal;
  /** Longest silence of the server, in milliseconds. Callers without it bound answers by their signal. */
  readonly silenceMs?: number;
}

export type OutboundResponse = Dispatcher.ResponseData;

/** A connection whose server has switched to WebSockets. */
export interface OutboundUpgrade {
  readonly headers: IncomingHttpHeaders;
  readonly socket: Duplex;
}

export interface OutboundPlace {
  readonly privateAddresses: boolean;
  /**
   * The holder whose connections to the server are used. They are kept alive only for requests of the same holder, so one
   * holder's bytes never precede another's. Undefined means the connections of all requests whose headers only the host
   * writes.
   */
  readonly holder?: string;
  /** A proxy gets plain requests as they are, without a tunnel: many proxies make tunnels to the port of TLS alone. */
  readonly isForwarded?: true;
}

/**
 * The one way to a server that somebody else chose. Connections are kept alive, so everything that belongs to one request is
 * in it.
 */
export interface Outbound {
  /**
   * Sends a request and resolves with the response's head. The body must be read or destroyed. Redirects are not followed.
   */
  send(to: OutboundPlace, request: OutboundRequest): Promise<OutboundResponse>;
  /** Opens a WebSocket's connection. Rejects where the server answers anything else. */
  upgrade(to: OutboundPlace, request: Pick<OutboundRequest, 'url' | 'headers' | 'signal'>): Promise<OutboundUpgrade>;
  /** Opens a connection for bytes that are no request of ours. It is made within the time that a connection may take. */
  connect(to: OutboundPlace, hostname: string, port: number, signal: AbortSignal): Promise<Socket>;
  close(): Promise<void>;
}

/** Most holders whose connections are kept. Connections of others end with their last request. */
const maxHolders = 256;

/**
 * Creates the way out.
 *
 * - `egressProxy`: URL of the HTTP proxy for public servers, by CONNECT, so TLS still ends at the server. The proxy then
 *   looks names up. Servers that may be private are reached directly.
 * - `find`: looks names up; `ofNameServers` when strangers choose them.
 * - `isOwn`: whether an address is this host's.
 */
export function createOutbound(
  connectMs: number,
  egressProxy: string | null,
  find: Find = ofSystem,
  isOwn = ownAddresses(),
): Outbound {
  const isOpen = (address: string): boolean => isPublicAddress(address) && !isOwn(address);
  // Callers bound answers by their signal.
  const common = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 15_000 };
  const proxy = egressProxy === null ? null : egressProxyOf(egressProxy, connectMs);
  const toAny = buildConnector({ timeout: connectMs });
  const toPublic = proxy ? proxyConnector(proxy, connectMs) : publicConnector(connectMs, find, isOpen);
  const anywhere = new Pools(() => new Agent({ ...common, connect: toAny }));
  const publicOnly = new Pools(() => new Agent({ ...common, connect: toPublic }));
  const check = (privateAddresses: boolean, hostname: string): void => {
    if (!privateAddresses && isClosedLiteral(hostname, isOpen)) throw new PrivateAddressError();
  };
  return {
    async send({ privateAddresses, holder = '', isForwarded = false }, { url, silenceMs, ...rest }) {
      const { hostname, host, protocol } = new URL(url);
      check(privateAddresses, hostname);
      const bounds = silenceMs === undefined ? {} : { headersTimeout: silenceMs, bodyTimeout: silenceMs };
      if (!privateAddresses && proxy !== null && isForwarded && protocol === 'http:') {
        const headers = { ...rest.headers, ...proxy.headers, host };
        return proxy.pool.request({ ...rest, ...bounds, headers, origin: proxy.origin, path: url, reset: true });
      }
      return request(url, { ...rest, ...bounds, dispatcher: (privateAddresses ? anywhere : publicOnly).of(holder) });
    },
    async upgrade({ privateAddresses, holder = '' }, { url, ...rest }) {
      check(privateAddresses, new URL(url).hostname);
      const dispatcher = (privateAddresses ? anywhere : publicOnly).of(holder);
      const { headers, socket } = await upgrade(url, { ...rest, protocol: 'websocket', dispatcher });
      return { headers, socket };
    },
    async connect({ privateAddresses }, hostname, port, signal) {
      check(privateAddresses, hostname);
      const bound = AbortSignal.any([signal, AbortSignal.timeout(connectMs)]);
      return connected(privateAddresses ? toAny : toPublic, hostname, port, bound);
    },
    async close() {
      await Promise.all([anywhere.destroy(), publicOnly.destroy(), proxy?.pool.destroy()]);
    },
  };
}

/** Connections by holder. */
class Pools {
  readonly #make: () => Dispatcher;
  readonly #kept = new Map<string, Dispatcher>();

  constructor(make: () => Dispatcher) {
    this.#make = make;
  }

  of(holder: string): Dispatcher {
    const pool = this.#kept.get(holder) ?? this.#make();
    this.#kept.delete(holder);
    this.#kept.set(holder, pool);
    if (this.#kept.size > maxHolders) {
      const [oldest, unused] = this.#kept.entries().next().value!;
      this.#kept.delete(oldest);
      unused.close().catch(() => undefined);
    }
    return pool;
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#kept.values()].map((pool) => pool.destroy()));
  }
}

/** Whether a literal address is refused. Such an address is never looked up. */
function isClosedLiteral(hostname: string, isOpen: (address: string) => boolean): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) !== 0 && !isOpen(literal);
}

/** Whether a request failed before anything was sent, so a second try, there or elsewhere, cannot act twice. */
export function isConnectFailure(error: unknown): boolean {
  if (error instanceof PrivateAddressError) return true;
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure);
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo';
}
