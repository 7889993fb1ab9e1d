import { boundedJson } from '@lodge/domain';
import type { JsonBounds } from '@lodge/domain';
import { ErrorCode, WebClient } from '@slack/web-api';
import type { Logger } from '@slack/web-api';
import { readUpTo } from '../shared/bounded.ts';
import { within } from '../shared/deadline.ts';
import { textOf } from '../shared/plain.ts';
import { neverLeft, PlatformError } from '../shared/platform-error.ts';

/** Bounds of an answer: a page of 200 messages with their blocks and files. */
const answerBounds: JsonBounds = { bytes: 8 * 1024 * 1024, depth: 64, elements: 200_000 };

export type SlackAnswer = Readonly<Record<string, unknown>>;

/** The `code` of a refusal says why, in Slack's word. */
export class SlackError extends PlatformError {
  readonly code: string;
  /** The missing scope, if `code` names one. */
  readonly needed: string | null;
  constructor(
    kind: SlackError['kind'],
    code: string,
    more: { readonly needed?: string | null; readonly retryAfterMs?: number } = {},
  ) {
    super(kind, `Slack: ${code}`, more.retryAfterMs);
    this.code = code;
    this.needed = more.needed ?? null;
  }
}

export interface SlackApi {
  /** Ends in a slash. */
  readonly apiUrl: string;
  readonly callTimeoutMs: number;
}

/**
 * One call of the Web API. Rejects with a `SlackError`. The library's client is made for the call: an idle one holds some
 * 60 KiB, and one of its own can be aborted.
 */
export async function callSlack(
  { apiUrl, callTimeoutMs }: SlackApi,
  token: string,
  method: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<SlackAnswer> {
  if (signal.aborted) throw new SlackError('unreached', 'given_up');
  try {
    return await within(callTimeoutMs, signal, (ends) => {
      const client = new WebClient(token, {
        slackApiUrl: apiUrl,
        logger: silent,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        allowAbsoluteUrls: false,
        fetch: (url, init) => boundedFetch(url, { ...(init as RequestInit), signal: ends }),
      });
      return client.apiCall(method, { ...args }) as unknown as Promise<SlackAnswer>;
    });
  } catch (error) {
    throw slackErrorOf(error);
  }
}

async function boundedFetch(url: string | URL | Request, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const body = response.body ? await readUpTo(response.body, answerBounds.bytes) : Buffer.alloc(0);
  if (response.status === 200) boundedJson(body, answerBounds);
  return new Response(response.status === 200 ? body : null, { status: response.status, headers: response.headers });
}

function slackErrorOf(error: unknown): SlackError {
  const { code, data, retryAfter, statusCode } = (error ?? {}) as Readonly<Record<string, unknown>>;
  switch (code) {
    case ErrorCode.PlatformError: {
      const { error: word, needed } = (data ?? {}) as Readonly<Record<string, unknown>>;
      return refusalOf(textOf(word, 80), textOf(needed, 80) || null);
    }
    case ErrorCode.RateLimitedError:
      return new SlackError('limited', 'ratelimited', { retryAfterMs: waitOf(retryAfter) });
    case ErrorCode.HTTPError:
      return new SlackError('unclear', `http_${Number(statusCode)}`);
    default:
      return neverLeft(error) ? new SlackError('unreached', 'unreachable') : new SlackError('unclear', 'no_answer');
  }
}

function refusalOf(word: string, needed: string | null): SlackError {
  if (word === 'ratelimited') return new SlackError('limited', word, { retryAfterMs: waitOf(undefined) });
  // "It's possible some aspect of the operation succeeded", says the reference of these.
  if (unclearWords.has(word)) return new SlackError('unclear', word);
  return new SlackError('refused', isWord(word) ? word : 'unreadable_answer', { needed });
}

const unclearWords = new Set(['fatal_error', 'internal_error', 'service_unavailable', 'request_timeout']);

/** A text that is no word of the platform may be a page of a proxy. */
const isWord = (text: string): boolean => /^[a-z0-9_:.-]{1,80}$/.test(text);

const waitOf = (seconds: unknown): number =>
  typeof seconds === 'number' && seconds >= 0 ? Math.min(seconds, 3_600) * 1_000 : 30_000;

/** The library logs bodies of requests. */
const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => 'error',
  setName() {},
} as unknown as Logger;

export const listOf = (value: unknown, most: number): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, most) : [];
