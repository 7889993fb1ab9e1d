/**
 * Places for connections, taken before a byte is read or a TLS handshake begins. A network (an IPv4 address, the /64 of an
 * IPv6 one) and a site (/24, /48) have their own bounds, and the last quarter of all is for sites with few. So a client that
 * opens connections without end uses up only its own.
 *
 * A trusted proxy brings the connections of all its clients. Each of those counts as a separate network.
 */
import type { Server, Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { Shares, networkOf, siteOf } from '@lodge/domain';
import type { Holder } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import type { NetworkSettings } from '../context.ts';

const defaultMax = 10_000;
const warnEveryMs = 60_000;

export class ConnectionPlaces {
  readonly #shares: Shares;
  readonly #trusts: (address: string, hop: number) => boolean;
  readonly #log: Log;
  #proxied = 0;
  #refused = 0;
  #warnedAt = -Infinity;

  constructor({ maxConnections = defaultMax, maxOfNetwork, trustedProxies = [] }: Partial<NetworkSettings>, log: Log) {
    const perAgent = maxOfNetwork ?? Math.ceil(maxConnections / 4);
    const perAccount = Math.max(perAgent, Math.ceil(maxConnections / 2));
    this.#shares = new Shares({ perAgent, perAccount, inAll: maxConnections, few: fewOf(maxConnections) });
    this.#trusts = proxyAddr.compile([...trustedProxies]);
    this.#log = log;
  }

  /** Runs before the server handles a connection: one without a place costs no parser and no handshake. */
  guard(server: Server): void {
    const accepting = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (!this.take(socket)) return void socket.destroy();
      for (const accept of accepting) accept.call(server, socket);
    });
  }

  /** Returns false if there is no place for this connection. Its place is free when it has closed. */
  take(socket: Socket): boolean {
    const { remoteAddress } = socket;
    // It has gone already.
    if (remoteAddress === undefined) return false;
    const holder = this.#holderOf(remoteAddress);
    if (!this.#shares.take(holder, 1)) {
      this.#tell(holder.agentId);
      return false;
    }
    socket.once('close', () => this.#shares.giveBack(holder, 1));
    return true;
  }

  /** A network stands where the shares have an agent, and its site for the account. */
  #holderOf(address: string): Holder {
    if (!this.#trusts(address, 0)) return { agentId: networkOf(address), accountId: siteOf(address) };
    this.#proxied += 1;
    const one = `of a trusted proxy ${this.#proxied}`;
    return { agentId: one, accountId: one };
  }

  #tell(network: string): void {
    this.#refused += 1;
    const now = performance.now();
    if (now - this.#warnedAt < warnEveryMs) return;
    this.#warnedAt = now;
    const fields = { network, refused: this.#refused, open: this.#shares.total };
    this.#log.warn(fields, 'connections are refused: LODGE_MAX_CONNECTIONS, or a proxy that is not trusted');
    this.#refused = 0;
  }
}

/** A site's bound, and its part of the last quarter: a browser opens six, a program some more. */
const fewOf = (max: number): number => Math.max(8, Math.floor(max / 128));
