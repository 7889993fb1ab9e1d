/** The two calls of Pub/Sub's REST API (v1) that a subscriber makes. Every answer is bounded before it is read. */
import { boundedJson } from '@lodge/domain';
import { within } from '../../shared/deadline.ts';
import { TooLargeError } from '../../shared/bounded.ts';
import { boundedFetch } from '../api/bounded-fetch.ts';
import { brokenFailure, failureOf, GoogleFailure, unavailable } from '../api/google-failure.ts';
import type { ServiceTokens } from './service-account.ts';

export interface Pulled {
  /** Ids that acknowledge all messages, whatever their content. */
  readonly ackIds: readonly string[];
  /** Mailboxes that notices name, each once. Anybody who may publish can have written them. */
  readonly addresses: readonly string[];
}

export interface PubsubOptions {
  /** Ends with a slash. */
  readonly api: string;
  /** `projects/<project>/subscriptions/<id>`. */
  readonly subscription: string;
  readonly tokens: ServiceTokens;
  readonly callMs: number;
  /** Bound on a pull, which Google holds open until there is something. */
  readonly pullMs: number;
}

export const pubsubScope = 'https://www.googleapis.com/auth/pubsub';

const maxMessages = 100;
/** A hundred notices of Gmail have 60 KB. */
const usualBytes = 2 * 1024 * 1024;
/** One message of the 10 MB that Pub/Sub takes, in base64: it is pulled alone, and acknowledged unread. */
const largestBytes = 16 * 1024 * 1024;
const maxAckIdChars = 2_048;
const bounds = { depth: 8, elements: 30_000 };

export class PubsubApi {
  readonly #options: PubsubOptions;
  /**
   * Messages in one pull. After an answer that was too large, messages come one by one: Google sends them again after their
   * deadline.
   */
  #most = maxMessages;

  constructor(options: PubsubOptions) {
    this.#options = options;
  }

  /** Waits for notices as long as Google does; nothing came: no ids. Rejects with a `GoogleFailure`. */
  async pull(signal: AbortSignal): Promise<Pulled> {
    const bytes = this.#most === 1 ? largestBytes : usualBytes;
    const limits = { bytes, timeoutMs: this.#options.pullMs };
    try {
      const answer = await this.#post('pull', { maxMessages: this.#most }, limits, signal);
      const pulled = pulledIn(answer === null ? null : boundedJson(answer, { ...bounds, bytes }));
      if (pulled.ackIds.length > 0) this.#most = Math.min(2 * this.#most, maxMessages);
      return pulled;
    } catch (error) {
      if (error instanceof GoogleFailure) throw error;
      this.#most = 1;
      throw new GoogleFailure('unavailable', unavailable);
    }
  }

  /** Rejects with a `GoogleFailure`: the notices then come again. */
  async acknowledge(ackIds: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#post('acknowledge', { ackIds }, { bytes: usualBytes, timeoutMs: this.#options.callMs }, signal);
  }

  /** Null: Google waited, and nothing came. */
  async #post(
    method: 'pull' | 'acknowledge',
    asked: object,
    { bytes, timeoutMs }: { readonly bytes: number; readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<Uint8Array | null> {
    const { api, subscription, tokens } = this.#options;
    const token = await tokens.access(signal);
    const init = {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(asked),
      size: bytes,
    };
    const { status, headers, body } = await within(timeoutMs, signal, async (own) => {
      const response = await boundedFetch(own)(`${api}v1/${subscription}:${method}`, init);
      return { status: response.status, headers: response.headers, body: await response.bytes() };
    }).catch((error: unknown) => {
      throw error instanceof TooLargeError ? error : brokenFailure(error);
    });
    if (status >= 200 && status < 300) return body;
    if (status === 504 && method === 'pull') return null;
    if (status === 401) tokens.forget();
    throw failureOf(status, headers, body);
  }
}

function pulledIn(answer: unknown): Pulled {
  const { receivedMessages } = (answer ?? {}) as { readonly receivedMessages?: unknown };
  const list = Array.isArray(receivedMessages) ? (receivedMessages.slice(0, maxMessages) as unknown[]) : [];
  const ackIds: string[] = [];
  const addresses = new Set<string>();
  for (const each of list) {
    const { ackId, message } = (each ?? {}) as {
      readonly ackId?: unknown;
      readonly message?: { data?: unknown } | null;
    };
    if (typeof ackId === 'string' && ackId !== '' && ackId.length <= maxAckIdChars) ackIds.push(ackId);
    const address = addressIn(message?.data);
    if (address !== null) addresses.add(address);
  }
  return { ackIds, addresses: [...addresses] };
}

const maxDataChars = 4_096;
const noticeBounds = { bytes: maxDataChars, depth: 4, elements: 32 };
/** RFC 5321: 64 before the @, 255 behind it. */
const maxAddressChars = 320;

/** The mailbox that a notice names, in lower case; null: it is no notice of Gmail. */
export function addressIn(data: unknown): string | null {
  if (typeof data !== 'string' || data.length > maxDataChars) return null;
  try {
    const notice = boundedJson(Buffer.from(data, 'base64'), noticeBounds) as { readonly emailAddress?: unknown } | null;
    const address = notice?.emailAddress;
    if (typeof address !== 'string' || address.length > maxAddressChars) return null;
    return /^[^\s\p{C}]+$/u.test(address) && address.includes('@') ? address.toLowerCase() : null;
  } catch {
    return null;
  }
}
