import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropic } from './anthropic.ts';
import { openai } from './openai.ts';
import { lastUserText, usageOf } from './text.ts';
import type { Frame, Reply, StandinRequest, Usage, Wire, WireFormat } from './types.ts';

const formats: Readonly<Record<Wire, WireFormat>> = { openai, anthropic };
const mostBodyBytes = 64 * 1024 * 1024;

type Ending = 'finished' | 'client closed' | 'cut';

/** One request and its answer. */
export class Exchange {
  readonly request: StandinRequest;
  readonly #res: ServerResponse;
  readonly #gone = new AbortController();
  readonly #record: { usage: Usage | null; clientClosedAt: Date | null };
  #cut = false;

  constructor(req: IncomingMessage, res: ServerResponse, body: unknown) {
    const ended = Promise.withResolvers<Ending>();
    const request = { ...describe(req, body), usage: null, clientClosedAt: null, ended: ended.promise };
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

  /** Refuses a request the provider would refuse: a wrong key, a missing field. */
  refuse(keys: ReadonlySet<string> | null): boolean {
    const { request } = this;
    if (keys && !keys.has(request.key ?? '')) {
      void this.send({ status: 401 }, null);
      return true;
    }
    const refusal = formats[request.wire].refusal(request);
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
    if (request.stream) {
      this.#res.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' });
      return this.#stream(format.stream(request, reply, usage), reply, released);
    }
    const body = JSON.stringify(format.json(request, reply, usage));
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
      if (!this.#res.write(frame.text)) await once(this.#res, 'drain', { signal });
    }
    if (reply.cutAfterChunks !== undefined) return this.#cutNow();
    this.#res.end();
  }

  #cutNow(): void {
    this.#cut = true;
    // What was written goes out first: the client sees the pieces, then the cut.
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

/** The parsed JSON body; undefined when there is none or it is not JSON. */
export async function readJson(req: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of req as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > mostBodyBytes) throw new Error('the body is too large for the stand-in');
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    return undefined;
  }
}

type Described = Omit<StandinRequest, 'usage' | 'clientClosedAt' | 'ended'>;

function describe(req: IncomingMessage, body: any): Described {
  const path = new URL(req.url ?? '/', 'http://standin').pathname;
  const wire: Wire = path.endsWith('/messages') ? 'anthropic' : 'openai';
  const bearer = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1];
  const header = req.headers['x-api-key'];
  const key = wire === 'anthropic' ? header : bearer;
  const messages: any[] = Array.isArray(body?.messages) ? body.messages : [];
  const tools: any[] = Array.isArray(body?.tools) ? body.tools : [];
  return {
    at: new Date(),
    method: req.method ?? '',
    path,
    headers: req.headers,
    body,
    wire,
    key: typeof key === 'string' ? key : null,
    model: typeof body?.model === 'string' ? body.model : '',
    stream: body?.stream === true,
    lastUserText: lastUserText(messages),
    tools: tools.map((tool) => String(tool?.function?.name ?? tool?.name ?? '')),
  };
}
