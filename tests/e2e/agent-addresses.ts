/** Helpers that tests of agents' addresses share: a world whose machines have a web server, and clients that name hosts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { FakeHost } from '@lodge/vm/fake';
import { WebSocket } from 'ws';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';
import { gatewayToken, GuestWeb } from './guest-web.ts';

/** A world whose agents' gateway, and whose machines' ports, are this web server. */
function worldOf(guest: GuestWeb, options: Parameters<typeof openWorld>[0]): Promise<World> {
  const host = new FakeHost();
  let machines = 0;
  // All of 127/8 leads here: each machine has an address of its own at which the web server answers.
  host.newAddress = () => `127.9.0.${(machines += 1)}`;
  const headers = { Authorization: `Bearer ${gatewayToken}`, Cookie: 'of_host=1; of_gateway=2' };
  return openWorld({
    ...options,
    host,
    kinds: ['runtime_a', 'runtime_b'],
    runtime: {
      web: (_guest, _facts, { dashboard }, page) =>
        page === 'gateway' || dashboard ? { port: guest.port, headers } : null,
    },
  });
}

export const hostOf = (id: string, prefix = 'openclaw'): string => `${prefix}-${id}.agents.localhost`;

export interface Sent {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** One with every right, where none is given. */
  readonly key?: string | null;
}

/** A client of agents' addresses. */
export class Visitor {
  readonly port: number;
  private readonly key: string;

  constructor({ url, key }: Pick<World, 'url' | 'key'>) {
    this.port = Number(new URL(url).port);
    this.key = key;
  }

  /** A request whose body is not sent yet. */
  begin(host: string, path: string, { method = 'GET', headers, key = this.key }: Sent = {}) {
    const own = {
      host: `${host}:${this.port}`,
      ...(key !== null && { 'x-api-key': key }),
      // As a browser does that goes to a page over plain http.
      ...(headers?.['cookie'] !== undefined && { 'upgrade-insecure-requests': '1' }),
    };
    const target = { host: '127.0.0.1', port: this.port, method, path, agent: false };
    return httpRequest({ ...target, headers: { ...own, ...headers } });
  }

  /** A request, and its reply as it begins. */
  async open(host: string, path: string, sent: Sent = {}) {
    const request = this.begin(host, path, sent);
    request.end(sent.body);
    const [reply] = (await once(request, 'response')) as [IncomingMessage];
    return { request, reply };
  }

  async ask(host: string, path: string, sent: Sent = {}) {
    const { reply } = await this.open(host, path, sent);
    const body = await text(reply);
    const isJson = reply.headers['content-type']?.startsWith('application/json') && body !== '';
    return { status: reply.statusCode!, headers: reply.headers, text: body, json: isJson ? JSON.parse(body) : null };
  }

  /** Status and code of a refusal. */
  async refused(host: string, sent: Sent = {}): Promise<[number, string]> {
    const { status, json } = await this.ask(host, '/', sent);
    return [status, json.error.code];
  }

  /** Opens a link as a browser does, and gives the cookie that comes of it. */
  async openLink(url: string, headers: OutgoingHttpHeaders = {}) {
    const { hostname, pathname, search } = new URL(url);
    const answer = await this.ask(hostname, pathname + search, { key: null, headers });
    return { ...answer, hostname, cookie: answer.headers['set-cookie']?.[0]?.split(';')[0] };
  }

  /** The raw reply to what is written to the listener. */
  raw(message: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    socket.write(message);
    return text(socket);
  }

  socketTo(host: string, headers: Record<string, string>, path = '/page'): WebSocket {
    return new WebSocket(`ws://127.0.0.1:${this.port}${path}`, { headers: { host, ...headers } });
  }

  /** The status answered to a WebSocket that does not open. */
  async handshake(host: string, headers: Record<string, string>, path?: string): Promise<number> {
    const socket = this.socketTo(host, headers, path);
    socket.on('error', () => undefined);
    const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    assert.ok(reply.resume());
    return reply.statusCode!;
  }
}

/** A world, an agent that runs in it, and who goes there. */
export async function openAddresses(options: Parameters<typeof openWorld>[0] = {}) {
  const guest = new GuestWeb();
  await guest.listen();
  const world = await worldOf(guest, options);
  const visitor = new Visitor(world);
  const owner = new Client(world);
  const stranger = new Client(world, await world.keyOf(await world.newAccount()));
  const agentId = await owner.agent('running');
  const link = async (body: object = {}, id = agentId, client = owner): Promise<string> => {
    const made = await client.call('POST', `/agents/${id}/links`, body);
    assert.equal(made.status, 201, made.text);
    return made.body.url as string;
  };
  return {
    guest,
    world,
    visitor,
    owner,
    stranger,
    agentId,
    link,
    visit: async (body: object = {}, id = agentId): Promise<{ readonly cookie: string; readonly hostname: string }> => {
      const { cookie, hostname, status } = await visitor.openLink(await link(body, id));
      assert.equal(status, 303);
      return { cookie: cookie!, hostname };
    },
    close: async (): Promise<void> => {
      await world.close();
      guest.close();
    },
  };
}
