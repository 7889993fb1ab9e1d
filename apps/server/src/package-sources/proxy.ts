/**
 * The proxy through which agents reach the package sources while their packages are installed: plain requests by http, and
 * tunnels to the sources that speak TLS. It leads to no other host, and to none at any other time. A guest is hostile: the
 * number of its connections and their bytes are bounded, and silent ones end.
 */
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DoorGuest, GuestProxy } from '@lodge/broker';
import { Places } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import type { SourceHosts } from './sources.ts';

const connectionsPerAgent = 24;
const connectMs = 20_000;
const silenceMs = 60_000;

/** Headers of a package client that sources understand. */
const passedOn = 'accept accept-encoding cache-control if-modified-since if-none-match if-range range user-agent'.split(
  ' ',
);
/** Headers of a connection, which are not passed back. */
const ofConnection = new Set(
  'connection keep-alive proxy-authenticate proxy-connection set-cookie transfer-encoding upgrade'.split(' '),
);

export interface ProxyDeps {
  readonly hosts: SourceHosts;
  /** The operator's own proxy for public servers. */
  readonly egressProxy: string | null;
  /** Whether the agent's packages are being installed. */
  readonly isOpen: (agentId: string) => boolean;
  readonly log: Log;
}

/** Options of a request to the operator's proxy. */
interface ViaProxy {
  readonly host: string;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

export class SourceProxy implements GuestProxy {
  private readonly deps: ProxyDeps;
  private readonly places = new Places({ perName: connectionsPerAgent });

  constructor(deps: ProxyDeps) {
    this.deps = deps;
  }

  async request(guest: DoorGuest, req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void> {
    const url = URL.canParse(req.url ?? '') ? new URL(req.url!) : null;
    const place = url === null ? '' : `${url.hostname}:${url.port || 80}`;
    const refused = this.refusal(guest, place);
    const status = refused ?? (req.method === 'GET' || req.method === 'HEAD' ? null : 405);
    if (status !== null) return void res.writeHead(status).end();
    if (!this.places.take(guest.agentId)) return void res.writeHead(429, { 'retry-after': '1' }).end();
    try {
      const answer = await this.answerOf(url!, place, req, signal);
      res.writeHead(answer.statusCode!, backHeaders(answer.headers));
      await pipeline(answer, res, { signal });
    } catch (error) {
      this.deps.log.debug({ err: error, agent_id: guest.agentId, place }, 'package source not reached');
      if (res.headersSent) res.destroy();
      else res.writeHead(502).end();
    } finally {
      this.places.giveBack(guest.agentId);
    }
  }

  async tunnel(guest: DoorGuest, target: string, client: Duplex, head: Buffer, signal: AbortSignal): Promise<void> {
    const place = target.toLowerCase();
    const status = this.refusal(guest, place) ?? (this.places.take(guest.agentId) ? null : 429);
    if (status !== null) return void client.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\n\r\n`);
    try {
      const server = await this.connection(place, signal);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) server.write(head);
      server.setTimeout(silenceMs, () => server.destroy());
      await Promise.all([pipeline(client, server, { signal }), pipeline(server, client, { signal })]);
    } catch (error) {
      this.deps.log.debug({ err: error, agent_id: guest.agentId, place }, 'tunnel to a package source ended');
      client.destroy();
    } finally {
      this.places.giveBack(guest.agentId);
    }
  }

  private refusal({ agentId }: DoorGuest, place: string): number | null {
    const { isOpen, hosts } = this.deps;
    return isOpen(agentId) && (hosts.public.has(place) || hosts.mirrors.has(place)) ? null : 403;
  }

  /** The operator's proxy on the way to a place; null where the way is straight. */
  private viaProxy(place: string): ViaProxy | null {
    const { egressProxy, hosts } = this.deps;
    if (egressProxy === null || hosts.mirrors.has(place)) return null;
    const { hostname, port, username, password } = new URL(egressProxy);
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return {
      host: hostname,
      port: Number(port || 80),
      headers: username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` },
    };
  }

  private async answerOf(url: URL, place: string, req: IncomingMessage, signal: AbortSignal): Promise<IncomingMessage> {
    const proxy = this.viaProxy(place);
    const headers = Object.fromEntries(
      passedOn.flatMap((name) => (req.headers[name] === undefined ? [] : [[name, req.headers[name]]])),
    );
    const to: RequestOptions = proxy
      ? { ...proxy, path: url.href }
      : { host: url.hostname, port: url.port || 80, path: `${url.pathname}${url.search}` };
    const sent = httpRequest({
      ...to,
      method: req.method,
      headers: { ...headers, ...proxy?.headers, host: url.host },
      agent: false,
      timeout: silenceMs,
      signal,
    });
    return new Promise((resolve, reject) => {
      sent.once('response', resolve);
      sent.once('error', reject);
      sent.once('timeout', () => sent.destroy(new Error('the source is silent')));
      sent.end();
    });
  }

  /** Connects within a bound, which does not hold for what follows. */
  private async connection(place: string, signal: AbortSignal): Promise<Socket> {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(connectMs)]);
    const proxy = this.viaProxy(place);
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    if (proxy === null) {
      const [, host, port] = /^(.*):(\d+)$/.exec(place)!;
      const socket = connect({ host: host!, port: Number(port) }, () => resolve(socket));
      socket.once('error', reject);
      promise.catch(() => socket.destroy());
    } else {
      const asked = httpRequest({ ...proxy, method: 'CONNECT', path: place, agent: false });
      asked.once('connect', ({ statusCode }: IncomingMessage, socket: Socket) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(new Error(`the proxy answered ${statusCode}`));
      });
      asked.once('error', reject);
      promise.catch(() => asked.destroy());
      asked.end();
    }
    const giveUp = (): void => reject(bound.reason);
    bound.addEventListener('abort', giveUp, { once: true });
    return promise.finally(() => bound.removeEventListener('abort', giveUp));
  }
}

const backHeaders = (headers: IncomingHttpHeaders): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ofConnection.has(name) ? [] : [[name, value]],
    ),
  );
