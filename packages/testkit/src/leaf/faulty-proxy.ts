/**
 * A proxy between a client and a real server that misbehaves where a test says so: it cuts, delays, refuses or never ends what
 * goes through it. Tests in other languages start it as a process and give it their rules by HTTP:
 *
 *   node packages/testkit/src/leaf/faulty-proxy.ts http://127.0.0.1:8080      prints its own address
 *
 *   POST   /__proxy/rules    {"fault": {"kind": "cut_body", "bytes": 10}, "path": "/logs", "times": 2}
 *   DELETE /__proxy/rules    forgets them
 *   PUT    /__proxy/target   {"url": "http://127.0.0.1:8081"}
 *   POST   /__proxy/down     {"ms": 500}: refuses connections for that time
 *   POST   /__proxy/cut      cuts all connections
 *   GET    /__proxy/requests [{"method", "path", "headers"}] that came so far
 */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export type Fault =
  /** The connection is cut when the request's head has come. The server gets nothing. */
  | { readonly kind: 'cut_before' }
  /** The server gets the request and replies; the client hears nothing. */
  | { readonly kind: 'cut_after' }
  /** The connection is cut after so many bytes of the reply's body. */
  | { readonly kind: 'cut_body'; readonly bytes: number }
  /** The connection is cut after so many bytes of the request's body. */
  | { readonly kind: 'cut_upload'; readonly bytes: number }
  /** The reply stands still after so many bytes of its body. */
  | { readonly kind: 'stall'; readonly bytes: number }
  /** The request goes on after this time. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The proxy replies. The server gets nothing. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly retryAfter?: number;
      readonly requestId?: string;
      readonly body?: string;
    };

export interface Rule {
  readonly fault: Fault;
  readonly method?: string;
  /** Part of the path and query. */
  readonly path?: string;
  /** How many requests it is for; 1 by default. */
  readonly times?: number;
  /** How many requests it lets through before. */
  readonly after?: number;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export class FaultyProxy {
  readonly requests: SeenRequest[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #rules: { readonly rule: Rule; left: number; before: number }[] = [];
  #target: URL;
  #port = 0;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, reply) => {
      request.on('error', () => undefined);
      reply.on('error', () => undefined);
      void this.#answer(request, reply).catch(() => request.socket.destroy());
    });
    this.#server.requestTimeout = 0;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket.on('error', () => undefined));
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('upgrade', (request, socket, head) => this.#tunnel(request, socket, head));
  }

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await proxy.up();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  fail(...rules: readonly Rule[]): void {
    for (const rule of rules) this.#rules.push({ rule, left: rule.times ?? 1, before: rule.after ?? 0 });
  }

  clear(): void {
    this.#rules = [];
  }

  /** Requests go to another server from now on. */
  retarget(url: string): void {
    this.#target = new URL(url);
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts all connections, and refuses new ones. */
  async down(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  /** Takes connections again, at the same port. */
  async up(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.down();
  }

  async #answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    if (url.startsWith('/__proxy/')) return this.#control(request, reply);
    this.requests.push({ method, path: url, headers: request.headers });
    const fault = this.#faultOf(method, url);
    if (fault?.kind === 'cut_before') return void request.socket.destroy();
    if (fault?.kind === 'status') return answerStatus(fault, request, reply);
    if (fault?.kind === 'slow') await sleep(fault.ms);
    await this.#forward(request, reply, fault);
  }

  async #forward(request: IncomingMessage, reply: ServerResponse, fault: Fault | undefined): Promise<void> {
    const { method, url, headers } = request;
    if (request.socket.destroyed) return;
    const upstream = httpRequest(new URL(url!, this.#target), { method, headers, agent: false });
    reply.once('close', () => upstream.destroy());
    const cut = (): void => {
      request.socket.destroy();
      upstream.destroy();
    };
    upstream.on('error', cut);
    let sent = 0;
    request.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      if (fault?.kind === 'cut_upload' && sent > fault.bytes) cut();
      else if (!upstream.write(chunk)) {
        request.pause();
        upstream.once('drain', () => request.resume());
      }
    });
    request.once('end', () => upstream.end());
    request.once('close', () => request.complete || upstream.destroy());
    const [incoming] = (await once(upstream, 'response')) as [IncomingMessage];
    incoming.on('error', cut);
    if (fault?.kind === 'cut_after') {
      incoming.resume();
      await once(incoming, 'end').catch(() => undefined);
      return cut();
    }
    reply.writeHead(incoming.statusCode!, incoming.headers);
    reply.flushHeaders();
    await pass(incoming, reply, fault, cut);
  }

  #faultOf(method: string, path: string): Fault | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      if (rule.method !== undefined && rule.method !== method) continue;
      if ((rule.path !== undefined && !path.includes(rule.path)) || entry.left === 0) continue;
      if (entry.before > 0) {
        entry.before -= 1;
        continue;
      }
      entry.left -= 1;
      return rule.fault;
    }
    return undefined;
  }

  /** A WebSocket passes as it is. */
  #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
    if (this.#faultOf('GET', request.url ?? '') !== undefined) return void socket.destroy();
    const upstream = connect(Number(this.#target.port), this.#target.hostname);
    const lines = request.rawHeaders.flatMap((name, i, all) => (i % 2 === 0 ? [`${name}: ${all[i + 1]}`] : []));
    upstream.write(`${request.method} ${request.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    upstream.write(head);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }

  async #control(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const body = request.method === 'GET' ? {} : ((await json(request).catch(() => ({}))) as Record<string, unknown>);
    const done = (value: unknown = {}): void => void reply.end(JSON.stringify(value));
    reply.setHeader('content-type', 'application/json');
    switch (`${request.method} ${request.url!.slice('/__proxy'.length)}`) {
      case 'POST /rules':
        this.fail(body as unknown as Rule);
        return done();
      case 'DELETE /rules':
        this.clear();
        return done();
      case 'PUT /target':
        this.retarget(String(body['url']));
        return done();
      case 'GET /requests':
        return done(this.requests);
      case 'POST /cut':
        done();
        await once(reply, 'close');
        return this.cut();
      case 'POST /down':
        done();
        await once(reply, 'close');
        await this.down();
        await sleep(Number(body['ms'] ?? 500));
        return this.up();
      default:
        reply.statusCode = 404;
        return done();
    }
  }
}

function answerStatus(
  { status, retryAfter, requestId, body }: Extract<Fault, { readonly kind: 'status' }>,
  request: IncomingMessage,
  reply: ServerResponse,
): void {
  request.resume();
  if (retryAfter !== undefined) reply.setHeader('retry-after', retryAfter);
  if (requestId !== undefined) reply.setHeader('x-request-id', requestId);
  reply.setHeader('content-type', 'application/json');
  reply.statusCode = status;
  const error = { type: 'server_error', code: `proxy_${status}`, message: 'The proxy refuses.' };
  reply.end(body ?? JSON.stringify({ error }));
}

/** The reply's body, as far as the fault lets it through. */
async function pass(
  incoming: IncomingMessage,
  reply: ServerResponse,
  fault: Fault | undefined,
  cut: () => void,
): Promise<void> {
  const bound = fault?.kind === 'cut_body' || fault?.kind === 'stall' ? fault.bytes : Number.POSITIVE_INFINITY;
  let passed = 0;
  // An error in the midst is the server's, and cuts the client, too.
  // A loop that is left would end the reply of the server, which for a client is a cut.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const part = chunk.subarray(0, Math.max(0, bound - passed));
    passed += chunk.length;
    if (passed < bound) {
      if (!reply.write(part)) await drained(reply);
      continue;
    }
    // The part goes out first.
    await Promise.race([new Promise((resolve) => reply.write(part, resolve)), once(reply, 'close')]);
    return fault?.kind === 'cut_body' ? cut() : undefined;
  }
  if (passed >= bound) return;
  reply.end();
}

/** Also for a client that went away. */
function drained(reply: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      reply.off('drain', end).off('close', end);
      resolve();
    };
    reply.on('drain', end).on('close', end);
    if (reply.destroyed) end();
  });
}

if (import.meta.main) {
  const [target] = process.argv.slice(2);
  if (target === undefined) throw new Error('usage: faulty-proxy.ts TARGET');
  const proxy = await FaultyProxy.start(target);
  process.stdout.write(`${proxy.url}\n`);
}
