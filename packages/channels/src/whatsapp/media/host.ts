/** WhatsApp's media host over HTTP. It is the operator's to name: nothing that comes from outside says where a request goes. */
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, Readable } from 'node:stream';
import type { JsonBounds } from '@lodge/domain';
import { NamedError } from '@lodge/domain';
import { readJson } from '../../shared/bounded.ts';

/** No answer, or one that is of no use. It contains neither an address nor a token. */
export class MediaError extends NamedError {
  /** Null: none came. */
  readonly status: number | null;
  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

export interface MediaTimings {
  /** Bound on one file, from its beginning to its end. */
  readonly fileMs: number;
  /** Without a byte in either direction. */
  readonly stalledMs: number;
}

const replyBounds: JsonBounds = { bytes: 64 * 1024, depth: 8, elements: 200 };
const maxPathChars = 1_000;
/** As a browser's: the host looks at it. */
const origin = 'https://web.whatsapp.com';

/** Path and query of an address, as the media host gives them. */
export const isMediaPath = (path: string): boolean =>
  path.length <= maxPathChars && /^\/[A-Za-z0-9_.~%][A-Za-z0-9_.~%/?=&+,:;-]*$/.test(path);

export class MediaHost {
  private readonly base: URL;
  private readonly timings: MediaTimings;

  constructor(base: URL, timings: MediaTimings) {
    this.base = base;
    this.timings = timings;
  }

  /** The bytes that lie there. Rejects, and ends, with a `MediaError`. No redirect is followed. */
  async get(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    if (!isMediaPath(path)) throw new MediaError('this is no path of a file');
    const request = this.request('GET', path, {}, signal);
    request.end();
    const reply = await replyTo(request);
    if (reply.statusCode === 200) return bytesOf(reply, request);
    request.destroy();
    throw new MediaError('the media host does not give the file', reply.statusCode ?? null);
  }

  /** Returns the answer to a body of so many bytes. Rejects with a `MediaError`. */
  async post(path: string, body: AsyncIterable<Uint8Array>, bytes: number, signal: AbortSignal): Promise<unknown> {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': bytes };
    const request = this.request('POST', path, headers, signal);
    try {
      const replied = replyTo(request);
      pipeline(Readable.from(body), request, () => undefined);
      const reply = await replied;
      if (reply.statusCode !== 200) throw new MediaError('the media host refused the file', reply.statusCode ?? null);
      return await readJson(reply as AsyncIterable<Buffer>, replyBounds);
    } catch (error) {
      throw error instanceof MediaError ? error : new MediaError('the media host gave no answer');
    } finally {
      request.destroy();
    }
  }

  private request(method: string, path: string, headers: Record<string, string | number>, given: AbortSignal) {
    const { fileMs, stalledMs } = this.timings;
    const url = new URL(`${this.base.origin}${path}`);
    if (url.origin !== this.base.origin) throw new MediaError('this is no path of the media host');
    const signal = AbortSignal.any([given, AbortSignal.timeout(fileMs)]);
    const ask = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = ask(url, { method, headers: { ...headers, origin }, agent: false, timeout: stalledMs, signal });
    request.on('timeout', () => request.destroy(new Error('stalled')));
    return request;
  }
}

function replyTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', (reply) => {
      // The reader gets the error by reading.
      reply.on('error', () => undefined);
      resolve(reply);
    });
    request.on('error', () => reject(new MediaError('the media host gave no answer')));
  });
}

async function* bytesOf(reply: IncomingMessage, request: ClientRequest): AsyncGenerator<Uint8Array> {
  try {
    yield* reply as AsyncIterable<Buffer>;
  } catch {
    throw new MediaError('the file broke off');
  } finally {
    request.destroy();
  }
}
