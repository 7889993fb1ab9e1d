/**
 * Requests to the API. A request is tried until it has its whole reply, or its error may not be repeated. Each try is bounded
 * by a time without a byte, and ended by the caller's signal.
 */
import { ApiError, ConnectionError, errorOfReply } from '../errors.ts';
import type { CallOptions, LodgeOptions } from '../options.ts';
import { Attempt } from './attempt.ts';
import { readText } from './body.ts';
import { patience } from './patience.ts';
import type { Upload } from './upload.ts';
import { isUnderWay, pause, retryDelayMs } from './retry.ts';
import { environment, originOf, queryText } from './url.ts';
import type { Query } from './url.ts';

export interface Call {
  readonly method: string;
  /** Below `/v1`, encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** A value for JSON. */
  readonly body?: unknown;
  readonly upload?: Upload | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** The operation takes an Idempotency-Key, and repeating it by one has its effect once. */
  readonly isKeyed?: boolean | undefined;
  /** Repeating it changes nothing, also without a key. */
  readonly isRepeatable?: boolean | undefined;
  /** Time without a byte that it needs at least: it waits for something. */
  readonly slowMs?: number | undefined;
}

/** A reply whose body is yet to be read. Whoever has it ends its attempt. */
export interface Opened {
  readonly reply: Response;
  readonly attempt: Attempt;
}

const defaultTimeoutMs = 60_000;
const defaultMaxRetries = 3;
/** Half a minute. A server that was killed holds its requests for 15 s. */
const maxWaits = 15;
const maxErrorBytes = 64 * 1024;
const maxJsonBytes = 128 * 1024 * 1024;

export class Transport {
  readonly origin: string;
  readonly apiKey: string | undefined;
  readonly #options: LodgeOptions;
  readonly #fetch: typeof fetch;

  constructor(options: LodgeOptions) {
    this.origin = originOf(options.baseUrl);
    this.apiKey = options.apiKey ?? environment('LODGE_API_KEY');
    this.#options = options;
    const given = options.fetch;
    // Browsers want their own fetch called on the global object.
    this.#fetch = given ?? ((input, init) => fetch(input, init));
  }

  get options(): LodgeOptions {
    return this.#options;
  }

  url(call: Pick<Call, 'path' | 'query'>): string {
    return `${this.origin}/v1${call.path}${queryText(call.query)}`;
  }

  /** The reply's JSON; a text where it is none. */
  json<T>(call: Call, options: CallOptions = {}): Promise<T> {
    return this.#repeated(call, options, async ({ reply, attempt }) => {
      const body = await readText(reply, attempt, maxJsonBytes);
      attempt.end();
      return valueOf(reply, body) as T;
    });
  }

  /** The reply once its headers are there. */
  open(call: Call, options: CallOptions = {}): Promise<Opened> {
    return this.#repeated(call, options, async (opened) => opened);
  }

  async #repeated<T>(call: Call, options: CallOptions, read: (opened: Opened) => Promise<T>): Promise<T> {
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? defaultMaxRetries;
    const key = options.idempotencyKey ?? (call.isKeyed ? newKey() : undefined);
    const isSafe = call.isRepeatable || ['GET', 'HEAD', 'PUT', 'DELETE'].includes(call.method) || key !== undefined;
    const repeat = isSafe && call.upload?.isOnce !== true ? 'always' : 'unsent';
    let unknown: unknown;
    for (let retry = 0, waits = 0; ;) {
      try {
        return await this.#once(call, options, key, read);
      } catch (error) {
        // Its condition may have failed by an earlier try of it.
        if (unknown !== undefined && isStatus(error, 412)) throw unknown;
        if (!isRefused(error)) unknown = error;
        const delayMs = retry < maxRetries && call.upload?.isSpent !== true ? retryDelayMs(error, repeat, retry) : null;
        if (delayMs === null) throw error;
        // A wait for the first try of this very request is no try of its own.
        if (isUnderWay(error) && waits < maxWaits) waits += 1;
        else retry += 1;
        await pause(delayMs, options.signal);
      }
    }
  }

  async #once<T>(
    call: Call,
    options: CallOptions,
    key: string | undefined,
    read: (opened: Opened) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = options.timeoutMs ?? Math.max(call.slowMs ?? 0, this.#options.timeoutMs ?? defaultTimeoutMs);
    const attempt = new Attempt(timeoutMs, options.signal);
    try {
      const reply = await this.#fetch(this.url(call), {
        method: call.method,
        headers: this.#headers(call, options, key),
        signal: attempt.signal,
        redirect: 'manual',
        ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
        ...call.upload?.init(attempt),
        ...(this.apiKey !== undefined && { credentials: 'omit' }),
        ...(this.#options.fetch === undefined && patience()),
      });
      attempt.touch();
      if (reply.ok) return await read({ reply, attempt });
      throw await refusal(reply, attempt);
    } catch (error) {
      // The connection is of no use any more, and what still comes is not wanted.
      attempt.end(true);
      throw isOwn(error) ? error : attempt.errorOf(error);
    }
  }

  #headers(call: Call, options: CallOptions, key: string | undefined): Record<string, string> {
    const token = call.method === 'GET' ? undefined : this.#options.csrfToken?.();
    const given: Record<string, string | undefined> = {
      accept: 'application/json',
      ...(this.apiKey !== undefined && { authorization: `Bearer ${this.apiKey}` }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { 'x-csrf-token': token }),
      ...this.#options.headers,
      ...call.headers,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...options.headers,
    };
    return Object.fromEntries(Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined));
  }
}

const isOwn = (error: unknown): boolean => error instanceof ApiError || error instanceof ConnectionError;

const isStatus = (error: unknown, status: number): boolean => error instanceof ApiError && error.status === status;

/** Whether the try certainly had no effect. */
const isRefused = (error: unknown): boolean =>
  error instanceof ApiError ? error.status < 500 : error instanceof ConnectionError && !error.mayHaveBeenSent;

async function refusal(reply: Response, attempt: Attempt): Promise<ApiError | ConnectionError> {
  const { status, headers } = reply;
  if (reply.type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)) {
    const to = headers.get('location') ?? 'another address';
    return new ConnectionError(`The server redirects to ${to.slice(0, 300)}. Give the address that it has as baseUrl.`);
  }
  const body = await readText(reply, attempt, maxErrorBytes).catch((error: unknown) => {
    // An error's status says the most; its words may break off.
    if (attempt.signal.aborted) throw error;
    return '';
  });
  const error = errorOfReply(status, headers, body);
  if (headers.get('x-should-retry') !== 'false') return error;
  return Object.assign(error, { details: { ...error.details, should_retry: false } });
}

function valueOf(reply: Response, body: string): unknown {
  const type = reply.headers.get('content-type') ?? '';
  if (body === '') return {};
  if (!type.includes('json')) {
    if (type.startsWith('text/csv')) return body;
    // Somebody between has answered.
    throw errorOfReply(
      502,
      reply.headers,
      JSON.stringify({ error: { code: 'not_json', message: 'The server sent a reply that is not JSON.' } }),
    );
  }
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new ConnectionError("The server's reply broke off.", { cause });
  }
}

/** A key that no other request has. `randomUUID` is missing in pages without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `sdk-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
