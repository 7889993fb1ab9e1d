/**
 * HTTP to the Bot API: bounded replies, no redirects, no address in any error (it holds the token). In the place of grammY's own
 * fetch, which reads replies of any size.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline, Readable } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { boundedJson, JsonBoundsError, NamedError } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';
import { readUpTo, TooLargeError } from '../shared/bounded.ts';

/** A request that got no reply, or one that cannot be read. */
export class TransportError extends NamedError {
  /** False: no byte of it left this host. */
  readonly hasLeft: boolean;
  /** The reply's beginning, where the reply was larger than its bounds. */
  readonly head: string | null;
  constructor(message: string, hasLeft: boolean, head: string | null = null) {
    super(message);
    this.hasLeft = hasLeft;
    this.head = head;
  }
}

/** A batch of updates. The costliest text within it takes some 20 ms to read. */
export const replyBounds: JsonBounds = { bytes: 2 * 1024 * 1024, depth: 64, elements: 40_000 };
const headBytes = 200;
const connectMs = 15_000;

/** They may be sent again when a connection that was kept open turns out to be closed. A send has a connection of its own. */
const repeatable: ReadonlySet<string> = new Set(['getUpdates', 'getMe', 'getWebhookInfo', 'getFile', 'sendChatAction']);

/** Between two polls a connection is free for a moment; one that is free for longer is closed. */
const keptOpen = { keepAlive: true, maxFreeSockets: 4_096, timeout: 10_000 } as const;

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Readable | undefined;
  readonly signal?: AbortSignal;
}

/** One for all connections: each would make its own, which takes tens of KiB. */
const secureContext = createSecureContext();

export class Transport {
  private readonly kept = {
    'http:': new HttpAgent(keptOpen),
    'https:': new HttpsAgent({ ...keptOpen, secureContext }),
  };
  private readonly once = {
    'http:': new HttpAgent({ keepAlive: false }),
    'https:': new HttpsAgent({ keepAlive: false, secureContext }),
  };

  /** As grammY calls it. */
  readonly fetch = async (address: string | URL, asked: Asked): Promise<{ json(): Promise<unknown> }> => {
    const reply = await this.get(new URL(address), asked);
    return { json: () => jsonOf(reply, asked.signal) };
  };

  /** The reply as soon as its head is there. Rejects with a `TransportError`. */
  async get(url: URL, asked: Asked): Promise<IncomingMessage> {
    const isRepeatable = repeatable.has(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
    try {
      return await this.ask(url, asked, isRepeatable);
    } catch (error) {
      if (!isRepeatable || !(error instanceof StaleConnection)) throw error;
      return this.ask(url, asked, isRepeatable);
    }
  }

  private ask(url: URL, { method, headers, body, signal }: Asked, isRepeatable: boolean): Promise<IncomingMessage> {
    const protocol = url.protocol === 'https:' ? 'https:' : 'http:';
    const agent = (isRepeatable ? this.kept : this.once)[protocol];
    const options = { method: method ?? 'GET', headers: headersOf(headers, body, isRepeatable), agent, signal };
    return new Promise((resolve, reject) => {
      const request = (protocol === 'https:' ? httpsRequest : httpRequest)(url, options as object);
      const connection = watchConnecting(request);
      request.on('response', (reply) => {
        // The reader gets the error by reading.
        reply.on('error', () => undefined);
        resolve(reply);
      });
      request.on('error', (error) => reject(failureOf(error, request, connection.isOpen())));
      if (body instanceof Readable) pipeline(body, request, () => undefined);
      else request.end(body);
    });
  }
}

/** A connection that was kept open was closed by the other side when it was used. */
class StaleConnection extends TransportError {}

function failureOf(error: NodeJS.ErrnoException, request: ClientRequest, hasLeft: boolean): TransportError {
  // Messages of Node name hosts and ports, never paths; the error has only the code all the same.
  const message = `the request failed (${error.code ?? error.name})`;
  const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
  return isStale ? new StaleConnection(message, hasLeft) : new TransportError(message, hasLeft);
}

function headersOf(given: Asked['headers'], body: Asked['body'], keepsOpen: boolean): Record<string, string> {
  const length = typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  return { ...given, ...length, connection: keepsOpen ? 'keep-alive' : 'close' };
}

/** Ends a request that is not connected in time. A request that was never connected has surely not left. */
function watchConnecting(request: ClientRequest): { isOpen(): boolean } {
  let isOpen = false;
  const timer = setTimeout(() => request.destroy(new Error('no connection')), connectMs);
  const end = (): void => clearTimeout(timer);
  request.on('close', end);
  request.on('socket', (socket) => {
    const opened = (): void => {
      isOpen = true;
      end();
    };
    if (!socket.connecting) opened();
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', opened);
  });
  return { isOpen: () => isOpen };
}

async function jsonOf(reply: IncomingMessage, signal: AbortSignal | undefined): Promise<unknown> {
  let head = '';
  const noting = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      if (head.length < headBytes) head += chunk.subarray(0, headBytes).toString('latin1');
      yield chunk;
    }
  };
  try {
    return boundedJson(await readUpTo(noting(), replyBounds.bytes), replyBounds);
  } catch (error) {
    if (signal?.aborted) throw new TransportError('the request was given up', true);
    if (error instanceof TooLargeError || error instanceof JsonBoundsError) {
      throw new TransportError(`the reply was refused: ${error.message}`, true, head.slice(0, headBytes));
    }
    throw new TransportError(`the reply could not be read (status ${reply.statusCode ?? 0})`, true);
  }
}
