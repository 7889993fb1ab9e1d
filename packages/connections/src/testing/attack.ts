/* oxlint-disable no-restricted-imports -- only tests import this file */
/** Servers below `example.com` whose OAuth may be an attack, on a way that leads all other names where the host's do. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import { createOutbound } from '@lodge/egress';
import type { Outbound } from '@lodge/egress';
import { defaultOAuthBounds } from '../bounds.ts';
import type { OAuthWay } from '../oauth/oauth-fetch.ts';

export const mcpUrl = 'https://mcp.example.com/mcp';
export const as = 'https://as.example.com';
export const redirectUri = 'https://lodge.example.net/oauth/connections/callback';
const bounds = { ...defaultOAuthBounds, requestMs: 700, beginMs: 4_000, exchangeMs: 2_000, renewMs: 2_000 };

export type Answer = object | string | ((req: IncomingMessage, res: ServerResponse, body: string) => unknown);
export type Answers = Readonly<Record<string, Answer>>;

interface Asked {
  readonly place: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

export const redirect =
  (status: number, location: () => string): Answer =>
  (_req, res) =>
    res.writeHead(status, { location: location() }).end();

/** Opens them before the tests of a file. */
export function openAttack() {
  let stub: Server;
  let canary: Server;
  let outbound: Outbound;
  const attack = {
    /** Answers by address. */
    answers: {} as Answers,
    asked: [] as Asked[],
    /** Requests that reached this host's own network. */
    canaryHits: [] as string[],
    way: undefined as unknown as OAuthWay,
    set(answers: Answers): void {
      Object.assign(attack, { answers, asked: [], canaryHits: [] });
    },
    /** The port of this host's own server. */
    portHere: (): number => portOf(canary),
    /** An address on this host. */
    here: (path = '/'): string => `https://127.0.0.1:${portOf(canary)}${path}`,
  };
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  before(async () => {
    stub = createServer((req, res) => void answer(req, res).catch(() => res.destroy()));
    canary = createServer((req, res) => void (attack.canaryHits.push(req.url!), res.end('{}')));
    for (const server of [stub, canary]) {
      server.listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
    }
    outbound = createOutbound(500, null);
    const outside: Outbound = {
      ...outbound,
      send(to, request) {
        const url = new URL(request.url);
        if (!url.hostname.endsWith('.example.com')) return outbound.send(to, request);
        const place = `http://127.0.0.1:${portOf(stub)}${url.pathname}${url.search}`;
        return outbound.send(
          { privateAddresses: true },
          { ...request, url: place, headers: { ...request.headers, host: url.host } },
        );
      },
    };
    attack.way = { outbound: outside, privateAddresses: false, bounds };
  });
  after(async () => {
    for (const server of [stub, canary]) {
      server?.closeAllConnections();
      server?.close();
    }
    await outbound?.close();
  });

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    const place = `https://${req.headers.host}${req.url}`;
    attack.asked.push({ place, body, headers: req.headers });
    const found = attack.answers[place];
    if (found === undefined) return res.writeHead(404).end('nothing here');
    if (typeof found === 'function') return found(req, res, body);
    res.setHeader('content-type', 'application/json');
    return res.end(typeof found === 'string' ? found : JSON.stringify(found));
  }

  return attack;
}
