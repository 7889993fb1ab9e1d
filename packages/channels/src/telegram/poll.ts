import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import { pause } from '../shared/backoff.ts';
import { TelegramError } from './api.ts';
import type { BotApi } from './api.ts';
import type { TelegramTimings } from './timings.ts';

/** Updates of one poll. With answers of bounded size, more of them would only be refused. */
const batch = 25;
const leastPollMs = 1_000;

/** Polls of one bot, and what is known of whether Telegram delivers by them. */
export class Poller {
  private readonly bot: BotApi;
  private readonly timings: TelegramTimings;
  private readonly log: Log;
  /** The first update that is not committed yet. */
  private offset: number | null;
  private limit = batch;
  /** A poll that returns at once shows whether the bot can be polled at all. */
  private isProved = false;
  private isDisputed = false;
  /** Messages waited beside the last poll. */
  private hasMissed = false;
  /** Messages wait, and polls do not bring them. */
  isDeaf = false;

  constructor(bot: BotApi, timings: TelegramTimings, log: Log, offset: number | null) {
    this.bot = bot;
    this.timings = timings;
    this.log = log;
    this.offset = offset;
  }

  /** Whether the next poll waits for updates. */
  get isLong(): boolean {
    return this.isProved || this.isDisputed;
  }

  /** One poll. Rejects with a `TelegramError`. */
  async next(signal: AbortSignal): Promise<readonly Json[]> {
    signal.throwIfAborted();
    const giveUp = new AbortController();
    const over = new AbortController();
    const end = (): void => giveUp.abort();
    signal.addEventListener('abort', end, { once: true });
    const { isLong } = this;
    const begun = performance.now();
    const probing = isLong ? this.probe(over.signal, giveUp) : Promise.resolve();
    try {
      const updates = await this.poll(isLong ? this.pollS() : 0, giveUp.signal);
      this.isDeaf = updates.length === 0 && this.hasMissed;
      this.isProved = !this.isDeaf;
      this.isDisputed = false;
      this.hasMissed = false;
      if (updates.length > 0) this.limit = batch;
      // A server that answers a long poll at once would be asked without end.
      else if (isLong) await pause(leastPollMs - (performance.now() - begun), signal);
      return updates;
    } catch (error) {
      if (signal.aborted || !this.hasMissed) throw error;
      // Given up by the probe: the next poll returns at once, with what waits or in vain.
      this.isProved = false;
      return [];
    } finally {
      over.abort();
      signal.removeEventListener('abort', end);
      await probing;
    }
  }

  /**
   * The offset that acknowledges these updates; null: there are none. Numbers may begin anew after a quiet week. Throws a
   * `TelegramError` for updates without numbers: they would come for ever.
   */
  offsetAfter(updates: readonly Json[]): number | null {
    if (updates.length === 0) return null;
    const last = updates.at(-1)!['update_id'];
    if (typeof last !== 'number' || !Number.isSafeInteger(last)) {
      throw new TelegramError({ description: 'the reply is no list of updates' });
    }
    return last + 1;
  }

  committed(offset: number): void {
    this.offset = offset;
  }

  failed(error: TelegramError): void {
    this.isProved = false;
    // While another program polls, a poll that returns at once would throw it out and prove nothing.
    this.isDisputed = error.code === 409;
    if (error.head === null) return;
    this.log.warn({ limit: this.limit }, 'telegram updates are larger than their bounds');
    if (this.limit > 1) {
      this.limit = 1;
      return;
    }
    // One update that cannot be read must not be in the way of all others. Its number comes first.
    const [, number] = /"update_id":\s?(\d{1,15})/.exec(error.head) ?? [];
    if (number !== undefined) this.offset = Number(number) + 1;
  }

  /** Bots that connected together do not poll together for ever. */
  private pollS(): number {
    return Math.ceil(this.timings.pollS * spread());
  }

  private async poll(timeout: number, signal: AbortSignal): Promise<readonly Json[]> {
    const asked = {
      limit: this.limit,
      timeout,
      allowed_updates: ['message' as const, 'callback_query' as const],
      ...(this.offset !== null && { offset: this.offset }),
    };
    const longestMs = timeout * 1_000 + this.timings.pollSlackMs;
    const updates: unknown = await this.bot.call<unknown>(longestMs, signal, (api, ending) =>
      api.getUpdates(asked, ending),
    );
    if (!Array.isArray(updates)) throw new TelegramError({ description: 'the reply is no list of updates' });
    return updates.slice(0, 100).flatMap((update: unknown): Json[] => {
      const object = asObject(update);
      return object ? [object] : [];
    });
  }

  /** Beside an open poll. An update that is still waiting the second time was not delivered by the poll. */
  private async probe(over: AbortSignal, giveUp: AbortController): Promise<void> {
    await pause(this.timings.probeAfterMs * spread(), over);
    if (over.aborted || !(await this.isSomethingWaiting(over))) return;
    await pause(this.timings.probeAgainMs, over);
    if (over.aborted || !(await this.isSomethingWaiting(over))) return;
    if (over.aborted) return;
    this.hasMissed = true;
    this.log.warn({}, 'telegram has messages that the open poll does not deliver');
    giveUp.abort();
  }

  private async isSomethingWaiting(over: AbortSignal): Promise<boolean> {
    try {
      const info = await this.bot.server.probing.through(
        () => this.bot.call(this.timings.pollSlackMs, over, (api, signal) => api.getWebhookInfo(signal)),
        { signal: over },
      );
      return info.pending_update_count > 0;
    } catch {
      // A probe that fails proves nothing.
      return false;
    }
  }
}

const spread = (): number => 0.75 + Math.random() / 4;
