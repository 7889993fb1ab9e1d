import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Agent, ProxyAgent, buildConnector, request } from 'undici';
import type { Dispatcher } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { ofSystem } from './names.ts';
import type { Find } from './names.ts';

/** A name led to an address that is not public, and nobody said that it may: somebody's DNS wants what is sent there. */
export class PrivateAddressError extends Error {
  constructor() {
    super('the name leads to an address that is not public');
    this.name = 'PrivateAddressError';
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

/** The one way to a server that somebody else chose. Connections are kept alive and shared by all: what belongs to one is in each request. */
export interface Outbound {
  /** Resolves with the response's head; the body is to be read or destroyed. Redirects are not followed. */
  send(to: { readonly privateAddresses: boolean }, request: OutboundRequest): Promise<OutboundResponse>;
  close(): Promise<void>;
}

/**
 * `egressProxy`: URL of the HTTP proxy that public servers are reached through, by CONNECT: TLS is with the server all the
 * same. What a name leads to is then the proxy's to know; servers that may be private are reached straight.
 * `find`: what names lead to; `ofNameServers` where strangers choose them.
 */
export function createOutbound(connectMs: number, egressProxy: string | null, find: Find = ofSystem): Outbound {
  // Callers have clocks of their own for answers, by their signal.
  const common = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 15_000 };
  const anywhere = new Agent({ ...common, connect: { timeout: connectMs } });
  const publicOnly =
    egressProxy === null
      ? new Agent({ ...common, connect: publicConnector(connectMs, find) })
      : new ProxyAgent({ ...common, uri: egressProxy, proxyTunnel: true, connect: { timeout: connectMs } });
  return {
    async send({ privateAddresses }, { url, ...rest }) {
      if (!privateAddresses && isPrivateLiteral(new URL(url).hostname)) throw new PrivateAddressError();
      return request(url, { ...rest, dispatcher: privateAddresses ? anywhere : publicOnly });
    },
    async close() {
      await Promise.all([anywhere.destroy(), publicOnly.destroy()]);
    },
  };
}

/** A literal address is never looked up. */
function isPrivateLiteral(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) !== 0 && !isPublicAddress(literal);
}

/** Connects to public addresses only. Checked on what is connected to, so a DNS answer that changes meanwhile changes nothing. */
function publicConnector(timeout: number, find: Find): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    find(hostname, options, (error, addresses) => {
      if (error) return callback(error, []);
      const usable = addresses.filter(({ address }) => isPublicAddress(address));
      const [first] = usable;
      if (!first) return callback(new PrivateAddressError(), []);
      if (options.all) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
  return buildConnector({ timeout, lookup });
}

/** True for a failure before anything was sent: trying again, or somebody else, cannot do a thing twice. */
export function isConnectFailure(error: unknown): boolean {
  if (error instanceof PrivateAddressError) return true;
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure);
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo';
}
