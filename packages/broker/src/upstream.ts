import { lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { Provider } from '@lodge/engine/ports';
import { isPublicAddress } from './addresses.ts';

/** A built-in provider's name led to an address that is not public: somebody's DNS wants the key. */
export class PrivateAddressError extends Error {
  constructor() {
    super('the name of a built-in provider leads to an address that is not public');
    this.name = 'PrivateAddressError';
  }
}

export interface ProviderRequest {
  readonly provider: Provider;
  readonly baseUrl: string;
  /** Appended to the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Connections to providers, kept alive and shared by all agents: what belongs to an agent is in each request. */
export interface Upstream {
  /** Resolves with the response's head; the body is to be read or destroyed. Redirects are not followed. */
  send(request: ProviderRequest): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

export function createUpstream(connectMs: number): Upstream {
  // The broker has its own clocks for answers; undici's would only add a second opinion.
  const common = { headersTimeout: 0, bodyTimeout: 0 };
  const anywhere = new Agent({ ...common, connect: { timeout: connectMs } });
  const publicOnly = new Agent({ ...common, connect: publicConnector(connectMs) });
  return {
    send({ provider, baseUrl, path, headers, body, signal }) {
      return request(`${baseUrl}/${path}`, {
        method: 'POST',
        headers,
        body,
        signal,
        dispatcher: provider.privateAddresses ? anywhere : publicOnly,
      });
    },
    async close() {
      await Promise.all([anywhere.destroy(), publicOnly.destroy()]);
    },
  };
}

/** Connects to public addresses only. Checked on what is connected to, so a DNS answer that changes meanwhile changes nothing. */
function publicConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup: publicLookup });
  return (options, callback) => {
    // A literal address is never looked up.
    const literal = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0 && !isPublicAddress(literal)) callback(new PrivateAddressError(), null);
    else connect(options, callback);
  };
}

const publicLookup: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, []);
    const usable = addresses.filter(({ address }) => isPublicAddress(address));
    const [first] = usable;
    if (!first) return callback(new PrivateAddressError(), []);
    if (options.all) callback(null, usable);
    else callback(null, first.address, first.family);
  });
};
