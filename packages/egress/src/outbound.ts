import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { NamedError } from '@lodge/domain';
import { Agent, ProxyAgent, buildConnector, request } from 'undici';
import type { Dispatcher } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { ofSystem } from './names.ts';
import type { Find } from './names.ts';
import { ownAddresses } from './own-addresses.ts';

/** Thrown when a name leads to an address that is not public, or is this host's own, and that was not allowed. */
export class PrivateAddressError extends NamedError {
  constructor() {
    super('the name leads to an address that is not public');
  }
}

export interface OutboundRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
}

export type OutboundResponse = Dispatcher.ResponseData;

export interface OutboundPlace {
  readonly privateAddresses: boolean;
  /**
   * The holder whose connections to the server are used. They are kept alive only for requests of the same holder, so one
   * holder's bytes never precede another's. Undefined means the connections of all requests whose headers only the host
   * writes.
   */
  readonly holder?: string;
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
  const anywhere = new Pools(() => new Agent({ ...common, connect: { timeout: connectMs } }));
  const publicOnly = new Pools(() =>
    egressProxy === null
      ? new Agent({ ...common, connect: publicConnector(connectMs, find, isOpen) })
      : new ProxyAgent({ ...common, uri: egressProxy, proxyTunnel: true, connect: { timeout: connectMs } }),
  );
  return {
    async send({ privateAddresses, holder = '' }, { url, ...rest }) {
      if (!privateAddresses && isClosedLiteral(new URL(url).hostname, isOpen)) throw new PrivateAddressError();
      return request(url, { ...rest, dispatcher: (privateAddresses ? anywhere : publicOnly).of(holder) });
    },
    async close() {
      await Promise.all([anywhere.destroy(), publicOnly.destroy()]);
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

/**
 * Returns a connector to other hosts' public addresses. It checks the address that it connects to, so a DNS answer that
 * changes meanwhile changes nothing.
 */
function publicConnector(timeout: number, find: Find, isOpen: (address: string) => boolean): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    find(hostname, options, (error, addresses) => {
      if (error) return callback(error, []);
      const usable = addresses.filter(({ address }) => isOpen(address));
      const [first] = usable;
      if (!first) return callback(new PrivateAddressError(), []);
      if (options.all) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
  return buildConnector({ timeout, lookup });
}

/** Whether a request failed before anything was sent, so a second try, there or elsewhere, cannot act twice. */
export function isConnectFailure(error: unknown): boolean {
  if (error instanceof PrivateAddressError) return true;
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure);
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo';
}
