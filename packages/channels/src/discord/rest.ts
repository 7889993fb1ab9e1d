import { boundedJson } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';
import { DiscordAPIError, HTTPError, RateLimitError, REST } from '@discordjs/rest';
import type { RequestData, ResponseLike } from '@discordjs/rest';
import { readUpTo } from '../shared/bounded.ts';
import { within } from '../shared/deadline.ts';
import { neverLeft, PlatformError } from '../shared/platform-error.ts';
import { InvalidRequests } from './invalid.ts';

/** Bounds of an answer: a page of 100 messages with their embeds. */
const answerBounds: JsonBounds = { bytes: 8 * 1024 * 1024, depth: 64, elements: 200_000 };
/** A shorter wait for a limit is waited out by the library. */
const maxQuietWaitMs = 2_000;
/** One bot does not use up what all bots of this process have. */
const maxInvalidOfBot = 200;

/** A refusal has Discord's `code` and the HTTP status. */
export class DiscordError extends PlatformError {
  readonly status: number;
  readonly code: number;
  constructor(
    kind: DiscordError['kind'],
    more: { readonly status?: number; readonly code?: number; readonly retryAfterMs?: number } = {},
  ) {
    super(kind, `Discord: ${kind} ${more.status ?? ''} ${more.code ?? ''}`.trimEnd(), more.retryAfterMs);
    this.status = more.status ?? 0;
    this.code = more.code ?? 0;
  }
}

export interface DiscordApi {
  /** Without a version at its end. */
  readonly apiUrl: string;
  /** Hosts of files. */
  readonly fileHosts: readonly string[];
  readonly callTimeoutMs: number;
  /** Invalid requests of all bots of this process: Discord bans the address for too many. */
  readonly invalid: InvalidRequests;
}

/** The REST API with one bot's token. */
export class DiscordRest {
  private readonly api: DiscordApi;
  private readonly rest: REST;
  private readonly token: string;
  private readonly invalid = new InvalidRequests(maxInvalidOfBot);

  constructor(api: DiscordApi, token: string) {
    this.api = api;
    this.token = token;
    this.rest = new REST({
      version: '10',
      api: api.apiUrl,
      retries: 0,
      timeout: api.callTimeoutMs,
      rejectOnRateLimit: ({ timeToReset, retryAfter }) => Math.max(timeToReset, retryAfter) > maxQuietWaitMs,
      makeRequest: (url, init) => this.fetch(url, init as unknown as RequestInit),
    });
  }

  /** Rejects with a `DiscordError`. */
  async call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: `/${string}`,
    signal: AbortSignal,
    data: RequestData = {},
  ): Promise<unknown> {
    if (signal.aborted) throw new DiscordError('unreached');
    for (const invalid of [this.api.invalid, this.invalid]) {
      if (invalid.mustRest()) throw new DiscordError('limited', { retryAfterMs: invalid.restMs() });
    }
    try {
      return await within(this.api.callTimeoutMs, signal, (ends) => {
        // The library drops its token after a 401.
        this.rest.setToken(this.token);
        return this.rest.request({ ...data, fullRoute: path, method: method as never, signal: ends });
      });
    } catch (error) {
      throw discordErrorOf(error);
    }
  }

  /** Its timers are the only thing that outlives a connection. */
  end(): void {
    this.rest.clearHashSweeper();
    this.rest.clearHandlerSweeper();
  }

  private async fetch(url: string, init: RequestInit): Promise<ResponseLike> {
    const response = await fetch(url, { ...init, redirect: 'error' });
    for (const invalid of [this.api.invalid, this.invalid]) invalid.count(response.status);
    const body = response.body ? await readUpTo(response.body, answerBounds.bytes) : Buffer.alloc(0);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    if (isJson && body.length > 0) boundedJson(body, answerBounds);
    const headers = new Headers(response.headers);
    // The library reads JSON where the type says so, also where there is nothing.
    if (body.length === 0) headers.delete('content-type');
    return new Response(body.length === 0 ? null : body, {
      status: response.status,
      headers,
    });
  }
}

function discordErrorOf(error: unknown): DiscordError {
  if (error instanceof DiscordError) return error;
  if (error instanceof RateLimitError) {
    return new DiscordError('limited', {
      retryAfterMs: Math.min(3_600_000, Math.max(error.retryAfter, error.timeToReset, 0)),
    });
  }
  if (error instanceof DiscordAPIError) {
    return new DiscordError('refused', { status: error.status, code: Number(error.code) || 0 });
  }
  if (error instanceof HTTPError) return new DiscordError('unclear', { status: error.status });
  return new DiscordError(neverLeft(error) ? 'unreached' : 'unclear');
}
