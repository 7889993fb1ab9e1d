/**
 * The browser's door for programs of the agent: Chromium's protocol on a fixed port of loopback.
 *
 * The first use starts Chromium. A look at `/json/version` is no use, because Hermes looks with each turn. It names an address
 * of the browser that stays the same over all runs of Chromium, because programs keep it. A WebSocket is accepted before
 * Chromium has started: programs wait seconds for that, and for an answer longer. The images' runtimes ask for `/start` before
 * each use. It is answered once Chromium runs and the owner does not hold it, so their own bounds count for a page alone.
 */
import { createHash } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Address } from './chromium.ts';
import { Link } from './link.ts';

export interface Doorway {
  readonly port: number;
  readonly isRunning: boolean;
  /** Resolves with Chromium's address, started where it was not. Counts as a use. */
  use(): Promise<Address>;
  /** Notes a use of the running Chromium. */
  used(): void;
  /** Whether the owner holds the browser. */
  readonly isHeld: boolean;
  /** Resolves once the owner does not hold it. */
  released(): Promise<void>;
}

const maxConnections = 64;
const browserPath = '/devtools/browser/lodge';
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const localHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

export class Door {
  private readonly doorway: Doorway;
  private readonly server = createServer({ headersTimeout: 10_000, maxHeaderSize: 16 * 1024 });
  private readonly links = new Set<Link>();

  constructor(doorway: Doorway) {
    this.doorway = doorway;
    this.server.maxConnections = maxConnections;
    this.server.on('request', (request, response) => void this.serve(request, response));
    this.server.on('upgrade', (request, socket, head) => void this.connect(request, socket, head));
  }

  get isOpen(): boolean {
    return this.server.listening;
  }

  async open(): Promise<void> {
    if (this.isOpen) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.server.once('error', reject);
    this.server.listen(this.doorway.port, '127.0.0.1', resolve);
    await promise.finally(() => this.server.removeListener('error', reject));
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
    this.drop();
  }

  /** Ends the connections to a Chromium that has ended. */
  drop(): void {
    for (const link of this.links) link.close();
  }

  hold(isHeld: boolean): void {
    for (const link of this.links) link.hold(isHeld);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = URL.parse(request.url ?? '/', 'http://guest')?.pathname;
    if (!isOfProgram(request)) return sendJson(response, 403, { error: 'pages may not come here' });
    if (path === '/json/version' || path === '/json/version/') return sendJson(response, 200, versionFor(request));
    if (!this.doorway.isRunning && (path === '/json' || path === '/json/list')) return sendJson(response, 200, []);
    try {
      await this.doorway.released();
      const { port } = await this.doorway.use();
      if (path === '/start') return sendJson(response, 200, {});
      const { method, url: target, headers } = request;
      const upstream = httpRequest({ host: '127.0.0.1', port, method, path: target, headers, agent: false });
      upstream.on('response', (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      });
      upstream.on('error', () => response.destroy());
      response.on('close', () => upstream.destroy());
      request.pipe(upstream);
    } catch (error) {
      sendJson(response, 503, { error: (error as Error).message });
    }
  }

  private async connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => undefined); // Its close follows.
    const key = request.headers['sec-websocket-key'];
    if (!isOfProgram(request) || key === undefined) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const accept = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    if (head.length > 0) socket.unshift(head);
    try {
      await this.doorway.released();
      const address = await this.doorway.use();
      this.join(socket, await upstreamOf(address, request.url ?? '/'));
    } catch (error) {
      socket.end(closeFrame((error as Error).message));
    }
  }

  private join(client: Duplex, upstream: Duplex): void {
    const { isHeld } = this.doorway;
    const link = new Link(client, upstream, { isHeld, used: () => this.doorway.used() });
    this.links.add(link);
    client.once('close', () => this.links.delete(link));
    if (client.destroyed) link.close();
  }
}

/** A page may not open the door: Chromium sends these headers for one, and no program does. */
function isOfProgram({ headers }: IncomingMessage): boolean {
  const isOfPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  return !isOfPage && localHost.test(headers.host ?? '');
}

const versionFor = ({ headers }: IncomingMessage): object => ({
  Browser: 'Chrome',
  'Protocol-Version': '1.3',
  webSocketDebuggerUrl: `ws://${headers.host}${browserPath}`,
});

/** Opens a WebSocket of Chromium's without extensions, so that its frames are those of the client. */
async function upstreamOf({ port, path }: Address, wanted: string): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const upstream = httpRequest({
    host: '127.0.0.1',
    port,
    path: wanted.startsWith('/devtools/browser') ? path : wanted,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16, port).toString('base64'),
    },
    agent: false,
  });
  upstream.on('upgrade', (_reply, socket, head) => {
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  upstream.on('response', (reply) => {
    reply.resume();
    reject(new Error(`the browser has nothing there (${reply.statusCode})`));
  });
  upstream.on('error', reject);
  upstream.end();
  return promise;
}

/** A WebSocket's close (1011) with a reason, at most 123 bytes of it. */
function closeFrame(reason: string): Buffer {
  const text = Buffer.from(reason.replaceAll(/[^\x20-\x7e]/g, '?')).subarray(0, 123);
  return Buffer.concat([Buffer.from([0x88, text.length + 2, 0x03, 0xf3]), text]);
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
