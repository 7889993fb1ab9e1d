/**
 * Requests of a route to the API that it is part of. They go through the whole pipeline as any client's: key, limits, scopes,
 * audit. Each is HTTP over a pair of streams in memory, so a request that is cut is cut at the other end, too. It has the
 * address and the request id of the request that it is made for.
 */
import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { Readable, duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';

/** Ids of the requests that inner ones are made for, by the inner one's socket. */
const outerIds = new WeakMap<object, string>();

/** The id of the request that this one is made for; null when it comes from outside. */
export const outerIdOf = ({ socket }: Pick<IncomingMessage, 'socket'>): string | null => outerIds.get(socket) ?? null;

const withoutBody = new Set([101, 204, 205, 304]);

export class InnerCalls {
  private readonly server: Server;

  constructor(app: App) {
    this.server = createServer({ keepAlive: false }, (request, response) => app.routing(request, response));
  }

  /** A `fetch` whose requests all go to this API, on behalf of the request. `called` is told of each. */
  fetchFor({ id, ip, headers }: FastifyRequest, called: () => void): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init);
      request.signal.throwIfAborted();
      const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
      called();
      const sent = {
        ...Object.fromEntries(request.headers),
        host: headers.host ?? 'localhost',
        connection: 'close',
        ...(body !== null && { 'content-length': String(body.length) }),
      };
      const reply = await this.send(request, { id, ip, headers: sent, body });
      const status = reply.statusCode!;
      const stream = withoutBody.has(status) ? null : Readable.toWeb(reply);
      return new Response(stream, { status, headers: headersOf(reply) });
    };
  }

  private send(request: Request, { id, ip, headers, body }: Sent): Promise<IncomingMessage> {
    const [near, far] = duplexPair();
    const socket = Object.assign(far, { remoteAddress: ip, destroySoon: () => far.end() });
    outerIds.set(socket, id);
    ignoreErrors(near, far);
    this.server.emit('connection', socket);
    const { pathname, search } = new URL(request.url);
    return new Promise((resolve, reject) => {
      const { method, signal } = request;
      const options = { createConnection: () => near, method, path: `${pathname}${search}`, headers, signal };
      const sending = sendRequest(options, resolve);
      sending.once('error', reject);
      sending.end(body);
    });
  }
}

interface Sent {
  readonly id: string;
  readonly ip: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

/** The request and its reply say what went wrong. */
function ignoreErrors(...ends: readonly Duplex[]): void {
  for (const end of ends) end.on('error', () => undefined);
}
