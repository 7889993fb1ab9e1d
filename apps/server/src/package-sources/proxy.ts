/**
 * The proxy through which agents reach the package sources while their packages are installed: plain requests by http, and
 * tunnels to the sources that speak TLS. It leads to no other host, and to none at any other time. A guest is hostile: the
 * number of its connections is bounded, silent ones end, and all end with the install.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DoorGuest, GuestProxy } from '@lodge/broker';
import { Places } from '@lodge/domain';
import type { Outbound } from '@lodge/egress';
import type { Log } from '@lodge/ports';
import type { SourceHosts } from './sources.ts';

const connectionsPerAgent = 24;
const silenceMs = 60_000;
/** How soon after an install its connections end. */
const lookMs = 1_000;

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
  readonly outbound: Outbound;
  /** Longest time of a request or a tunnel: a tool is ended after it. */
  readonly longestMs: number;
  /** Whether the agent's packages are being installed. */
  readonly isOpen: (agentId: string) => boolean;
  readonly log: Log;
}

type Bound = readonly [agentId: string, signal: AbortSignal];

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
    await this.within(guest, signal, async (bound) => {
      try {
        const answer = await this.answerOf(url!, place, req, [guest.agentId, bound]);
        res.writeHead(answer.statusCode, backHeaders(answer.headers));
        await pipeline(answer.body, res, { signal: bound });
      } catch (error) {
        this.deps.log.debug({ err: error, agent_id: guest.agentId, place }, 'package source not reached');
        if (res.headersSent) res.destroy();
        else res.writeHead(502).end();
      }
    });
  }

  async tunnel(guest: DoorGuest, target: string, client: Duplex, head: Buffer, signal: AbortSignal): Promise<void> {
    const place = target.toLowerCase();
    const status = this.refusal(guest, place) ?? (this.places.take(guest.agentId) ? null : 429);
    if (status !== null) return void client.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\n\r\n`);
    await this.within(guest, signal, async (bound) => {
      try {
        const { outbound, hosts } = this.deps;
        const [, host, port] = /^(.*):(\d+)$/.exec(place)!;
        const to = { privateAddresses: hosts.mirrors.has(place) };
        const server = await outbound.connect(to, host!, Number(port), bound);
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        if (head.length > 0) server.write(head);
        server.setTimeout(silenceMs, () => server.destroy());
        await Promise.all([pipeline(client, server, { signal: bound }), pipeline(server, client, { signal: bound })]);
      } catch (error) {
        this.deps.log.debug({ err: error, agent_id: guest.agentId, place }, 'tunnel to a package source ended');
        client.destroy();
      }
    });
  }

  private refusal({ agentId }: DoorGuest, place: string): number | null {
    const { isOpen, hosts } = this.deps;
    return isOpen(agentId) && (hosts.public.has(place) || hosts.mirrors.has(place)) ? null : 403;
  }

  private async answerOf(url: URL, place: string, req: IncomingMessage, [agentId, signal]: Bound) {
    const { outbound, hosts } = this.deps;
    const headers = Object.fromEntries(
      passedOn.flatMap((name) => (req.headers[name] === undefined ? [] : [[name, String(req.headers[name])]])),
    );
    const method = req.method as 'GET' | 'HEAD';
    const to = { privateAddresses: hosts.mirrors.has(place), holder: agentId, isForwarded: true } as const;
    return outbound.send(to, { method, url: url.href, headers, signal, silenceMs });
  }

  /** Does the work with a signal that aborts when the install has ended, and after the longest time that one may take. */
  private async within({ agentId }: DoorGuest, signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>) {
    const { isOpen, longestMs } = this.deps;
    const ended = new AbortController();
    const timer = setInterval(() => {
      if (!isOpen(agentId)) ended.abort(new Error('the install has ended'));
    }, lookMs);
    try {
      await work(AbortSignal.any([signal, ended.signal, AbortSignal.timeout(longestMs)]));
    } finally {
      clearInterval(timer);
      this.places.giveBack(agentId);
    }
  }
}

const backHeaders = (headers: IncomingHttpHeaders): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ofConnection.has(name) ? [] : [[name, value]],
    ),
  );
