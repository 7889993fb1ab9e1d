import { NamedError, Semaphore } from '@lodge/domain';
import { Api, GrammyError, HttpError } from 'grammy';
import { cut, plainName } from '../shared/plain.ts';
import { within } from '../shared/deadline.ts';
import { Transport, TransportError } from './transport.ts';

/** A call of the Bot API that did not succeed. It contains neither address nor content of the call. */
export class TelegramError extends NamedError {
  /** The status that Telegram gave; null: it gave none. */
  readonly code: number | null;
  /** Telegram's words, for a log and for the channel's owner. */
  readonly description: string;
  /** False: the request did not reach Telegram. */
  readonly hasLeft: boolean;
  readonly retryAfterMs: number;
  /** The group has this id now. */
  readonly migratedTo: number | null;
  /** Beginning of a reply that was larger than its bounds. */
  readonly head: string | null;

  constructor(facts: Partial<Omit<TelegramError, 'name' | 'message'>> & { readonly description: string }) {
    super(facts.code ? `Telegram answered ${facts.code}: ${facts.description}` : facts.description);
    this.code = facts.code ?? null;
    this.description = facts.description;
    this.hasLeft = facts.hasLeft ?? true;
    this.retryAfterMs = facts.retryAfterMs ?? 0;
    this.migratedTo = facts.migratedTo ?? null;
    this.head = facts.head ?? null;
  }
}

export type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;

export interface TelegramServer {
  /** Without a slash at its end. */
  readonly apiRoot: string;
  readonly transport: Transport;
  /** Bots that are just connecting. */
  readonly opening: Semaphore;
  /** Probes beside open polls: few at once share few connections. */
  readonly probing: Semaphore;
}

/** After an outage all bots come back: so many at once. */
const maxOpening = 32;
const maxProbing = 8;

export const serverAt = (apiRoot: string): TelegramServer => ({
  apiRoot,
  transport: new Transport(),
  opening: new Semaphore(maxOpening),
  probing: new Semaphore(maxProbing),
});

/** `<id of the bot>:<secret>`. Source: core.telegram.org/bots/api#authorizing-your-bot. */
export const isToken = (token: string): boolean => /^\d{1,20}:[A-Za-z0-9_-]{20,100}$/.test(token);

/** One bot's calls: each has a time of its own and rejects with a `TelegramError`. */
export class BotApi {
  readonly token: string;
  readonly server: TelegramServer;
  private readonly api: Api;

  constructor(server: TelegramServer, token: string) {
    this.server = server;
    this.token = token;
    this.api = new Api(token, { apiRoot: server.apiRoot, fetch: server.transport.fetch as never });
  }

  async call<T>(
    timeoutMs: number,
    parent: AbortSignal,
    work: (api: Api, signal: GrammySignal) => Promise<T>,
  ): Promise<T> {
    try {
      // grammY's type of a signal is that of a package for old versions of Node.
      return await within(timeoutMs, parent, (signal) => work(this.api, signal as unknown as GrammySignal));
    } catch (error) {
      throw telegramErrorOf(error);
    }
  }
}

/** Longest time to wait that is taken from Telegram. */
const maxRetryAfterS = 24 * 3600;

export function telegramErrorOf(error: unknown): TelegramError {
  if (error instanceof TelegramError) return error;
  if (error instanceof GrammyError) {
    const { retry_after: retryAfterS, migrate_to_chat_id: migratedTo } = error.parameters;
    return new TelegramError({
      code: Number.isSafeInteger(error.error_code) ? error.error_code : null,
      description: plainName(error.description, 'no description'),
      retryAfterMs: typeof retryAfterS === 'number' ? Math.min(Math.max(retryAfterS, 0), maxRetryAfterS) * 1_000 : 0,
      migratedTo: Number.isSafeInteger(migratedTo) ? migratedTo! : null,
    });
  }
  const inner = error instanceof HttpError ? error.error : error;
  if (inner instanceof TransportError) {
    return new TelegramError({ description: inner.message, hasLeft: inner.hasLeft, head: inner.head });
  }
  const name = inner instanceof Error ? cut(inner.name, 40) : 'unknown';
  return new TelegramError({ description: `no answer (${name})` });
}
