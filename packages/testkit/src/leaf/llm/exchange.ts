import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropic } from './anthropic.ts';
import { openai } from './openai.ts';
import { google } from './google.ts';
import { responses } from './responses.ts';
import { lastUserText, usageOf } from './text.ts';
import type { Frame, Reply, StubRequest, Usage, Wire, WireFormat } from './types.ts';

const formats: Readonly<Record<Wire, WireFormat>> = { openai, responses, anthropic, google };
const maxBodyBytes = 64 * 1024 * 1024;

type Ending = 'finished' | 'client closed' | 'cut';

/** One request and its answer. */
export class Exchange {
  readonly request: StubRequest;
  readonly #res: ServerResponse;
  readonly #gone = new AbortController();
  readonly #record: { usage: Usage | null; clientClosedAt: Date | null };
  #cut = false;
  /** Bytes of the body that may still go out before it is cut. */
  #bytesLeft = Infinity;

  constructor(req: IncomingMessage, res: ServerResponse, rawBody: string) {
    const ended = Promise.withResolvers<Ending>();
    const request = { ...describe(req, rawBody), usage: null, clientClosedAt: null, ended: ended.promise };
    this.request = request;
    this.#record = request;
    this.#res = res;
    res.on('close', () => {
      const ending: Ending = this.#cut ? 'cut' : res.writableFinished ? 'finished' : 'client closed';
      if (ending === 'client closed') this.#record.clientClosedAt = new Date();
      this.#gone.abort();
      ended.resolve(ending);
    });
  }

  /** Refuses a key that is none of `keys`. */
  refuseKey(keys: ReadonlySet<string> | null): boolean {
    const { key, wire } = this.request;
    if (!keys || keys.has(key ?? '')) return false;
    void this.send({ status: formats[wire].wrongKeyStatus ?? 401 }, null);
    return true;
  }

  /** Refuses a request the provider would refuse: a field is missing, or something is there that is not its. */
  refuse(breach: (request: StubRequest) => string | null): boolean {
    const { request } = this;
    const message = breach(request);
    const refusal = formats[request.wire].refusal(request) ?? (message === null ? null : { status: 400, message });
    if (refusal) void this.send(refusal, null);
    return refusal !== null;
  }

  /** Sends the reply; resolves early when the client leaves. `released` resolves when hanging replies go on. */
  async send(reply: Reply, released: Promise<void> | null): Promise<void> {
    try {
      if (reply.delayMs) await sleep(reply.delayMs, undefined, { signal: this.#gone.signal });
      if (reply.hang === 'at-once') await this.#orGone(released);
      await this.#answer(reply, released);
    } catch (error) {
      if (!this.#gone.signal.aborted) throw error;
    }
  }

  async #answer(reply: Reply, released: Promise<void> | null): Promise<void> {
    const { request } = this;
    const format = formats[request.wire];
    const status = reply.status ?? 200;
    const headers: Record<string, string> = { ...reply.headers };
    if (reply.retryAfterSeconds !== undefined) headers['retry-after'] = String(reply.retryAfterSeconds);
    if (reply.raw) return this.#body(status, headers, reply.raw.contentType, reply.raw.body);
    const json = 'application/json';
    if (status >= 400) return this.#body(status, headers, json, JSON.stringify(format.error(status, reply.message)));
    const usage = usageOf(request.body, reply);
    this.#record.usage = usage;
    this.#bytesLeft = reply.cutAtByte ?? Infinity;
    if (request.stream) {
      this.#res.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' });
      return this.#stream(format.stream(request, reply, usage), reply, released);
    }
    const body = JSON.stringify(format.json(request, reply, usage));
    if (reply.cutAtByte !== undefined && reply.cutAtByte < Buffer.byteLength(body)) {
      this.#res.writeHead(200, { ...headers, 'content-type': json, 'content-length': Buffer.byteLength(body) });
      this.#res.write(Buffer.from(body).subarray(0, reply.cutAtByte), () => this.#cutNow());
      return;
    }
    if (reply.cutAfterChunks === undefined) return this.#body(200, headers, json, body);
    this.#res.writeHead(200, { ...headers, 'content-type': json, 'content-length': Buffer.byteLength(body) });
    this.#res.write(body.slice(0, body.length / 2), () => this.#cutNow());
  }

  #body(status: number, headers: Record<string, string>, contentType: string, body: string): void {
    this.#res.writeHead(status, { ...headers, 'content-type': contentType });
    this.#res.end(body);
  }

  async #stream(frames: readonly Frame[], reply: Reply, released: Promise<void> | null): Promise<void> {
    const { signal } = this.#gone;
    let sent = 0;
    for (const frame of frames) {
      if (frame.paced) {
        if (sent === reply.cutAfterChunks) return this.#cutNow();
        if (sent === 1 && reply.hang === 'after-first-chunk') await this.#orGone(released);
        if (sent > 0 && reply.intervalMs) await sleep(reply.intervalMs, undefined, { signal });
        await this.#orGone(Promise.resolve(reply.beforeChunk?.(sent)));
        sent++;
      }
      const bytes = Buffer.from(frame.text);
      if (bytes.length > this.#bytesLeft) {
        this.#res.write(bytes.subarray(0, this.#bytesLeft));
        return this.#cutNow();
      }
      this.#bytesLeft -= bytes.length;
      if (!this.#res.write(bytes)) await once(this.#res, 'drain', { signal });
    }
    if (reply.cutAfterChunks !== undefined) return this.#cutNow();
    this.#res.end();
  }

  #cutNow(): void {
    this.#cut = true;
    // Written pieces go out first: the client sees them, then the cut.
    this.#res.socket?.end(() => this.#res.destroy());
  }

  async #orGone(wait: Promise<void> | null): Promise<void> {
    const { signal } = this.#gone;
    signal.throwIfAborted();
    const left = Promise.withResolvers<never>();
    const leave = (): void => left.reject(new Error('the client left'));
    signal.addEventListener('abort', leave, { once: true });
    try {
      await Promise.race([wait ?? Promise.resolve(), left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }
}

export async function readText(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) throw new Error('the body is too large for the stub');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Described = Omit<StubRequest, 'usage' | 'clientClosedAt' | 'ended'>;

function describe(req: IncomingMessage, rawBody: string): Described {
  const url = new URL(req.url ?? '/', 'http://stub');
  const path = url.pathname;
  const body: any = parsed(rawBody);
  const generate = /\/models\/(.+):(generateContent|streamGenerateContent)$/.exec(path);
  const wire = wireOf(path);
  const messages = body?.messages ?? body?.contents ?? body?.input;
  const tools: any[] = Array.isArray(body?.tools) ? body.tools : [];
  const model = generate ? decodeURIComponent(generate[1]!) : body?.model;
  return {
    at: new Date(),
    method: req.method ?? '',
    path,
    headers: req.headers,
    rawBody,
    body,
    wire,
    key: keyOf(req, wire),
    model: typeof model === 'string' ? model : '',
    stream: generate
      ? generate[2] === 'streamGenerateContent' && url.searchParams.get('alt') === 'sse'
      : body?.stream === true,
    lastUserText: typeof messages === 'string' ? messages : lastUserText(Array.isArray(messages) ? messages : []),
    tools: tools
      .flatMap((tool) => tool?.functionDeclarations ?? [tool])
      .map((tool) => String(tool?.function?.name ?? tool?.name ?? '')),
  };
}

function wireOf(path: string): Wire {
  if (/:(generateContent|streamGenerateContent)$/.test(path) || path.includes('/v1beta/')) return 'google';
  if (path.endsWith('/messages')) return 'anthropic';
  return path.endsWith('/responses') ? 'responses' : 'openai';
}

/** The key where this API has it; asked for the models, wherever it is, as that path is the same for several. */
function keyOf({ headers, method }: IncomingMessage, wire: Wire): string | null {
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  const anthropicKey = headers['x-api-key'];
  const googleKey = headers['x-goog-api-key'];
  const own = { openai: bearer, responses: bearer, anthropic: anthropicKey, google: googleKey }[wire];
  const key = method === 'GET' ? (bearer ?? anthropicKey ?? googleKey) : own;
  return typeof key === 'string' ? key : null;
}
