/** Ways to connect to servers: to public addresses alone, or through the operator's proxy. */
import type { LookupFunction, Socket } from 'node:net';
import { NamedError } from '@lodge/domain';
import { Pool, buildConnector } from 'undici';
import type { Find } from './names.ts';

export type Connector = buildConnector.connector;

/** Thrown when a name leads to an address that is not public, or is this host's own, and that was not allowed. */
export class PrivateAddressError extends NamedError {
  constructor() {
    super('the name leads to an address that is not public');
  }
}

/**
 * Returns a connector to other hosts' public addresses. It checks the address that it connects to, so a DNS answer that
 * changes meanwhile changes nothing.
 */
export function publicConnector(timeout: number, find: Find, isOpen: (address: string) => boolean): Connector {
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

/** The operator's HTTP proxy. */
export interface EgressProxy {
  /** Connections to the proxy itself. */
  readonly pool: Pool;
  readonly origin: string;
  /** The proxy's credentials, where it wants any. */
  readonly headers: Readonly<Record<string, string>>;
}

export function egressProxyOf(url: string, timeout: number): EgressProxy {
  const { origin, username, password } = new URL(url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    pool: new Pool(origin, { connect: { timeout }, headersTimeout: timeout, bodyTimeout: 0 }),
    origin,
    headers: username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` },
  };
}

/** Returns a connector through the proxy, by CONNECT, so TLS ends at the server. The proxy looks names up. */
export function proxyConnector(proxy: EgressProxy, timeout: number): Connector {
  const secure = buildConnector({ timeout });
  return (options, callback) => {
    tunnel(proxy, options).then(
      (socket) => {
        if (options.protocol === 'https:') secure({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) => callback(error as Error, null),
    );
  };
}

async function tunnel({ pool, headers }: EgressProxy, { host, port, protocol }: buildConnector.Options) {
  const place = port ? host! : `${host}:${protocol === 'https:' ? 443 : 80}`;
  const { statusCode, socket } = await pool.connect({ path: place, headers: { ...headers, host: place } });
  if (statusCode === 200) return socket as Socket;
  socket.on('error', () => undefined).destroy();
  throw new Error(`the egress proxy answered ${statusCode}`);
}

/** Connects once, for bytes that are no request of ours. */
export function connected(connector: Connector, hostname: string, port: number, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  connector({ hostname, host: `${hostname}:${port}`, port: String(port), protocol: 'http:' }, (error, socket) => {
    // Nobody listens to the socket before the next turn of the event loop, or if nobody waits for it any more.
    socket?.on('error', () => socket.destroy());
    if (error) reject(error);
    else if (signal.aborted) socket.destroy();
    else resolve(socket);
  });
  if (signal.aborted) giveUp();
  return promise.finally(() => signal.removeEventListener('abort', giveUp));
}
