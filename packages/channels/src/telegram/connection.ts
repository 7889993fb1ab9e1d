/**
 * One bot's connection: a loop of long polls that nothing ends but a person's doing.
 *
 *     getMe ── poll (0 s) ── poll (50 s) ── poll … each after its batch is committed: a poll's offset acknowledges what came before
 *
 * - Nothing else moves the offset. It goes into the row with the messages, with the bot's id: another bot counts otherwise.
 * - A poll is given up when its answer is late, or when a probe finds twice that messages wait beside it.
 * - A first failure is retried at once; a repeated one means `disconnected`, and retries with backoff.
 * - A token that Telegram refuses twice is `error`: the loop ends.
 */
import type { ChannelReason, Json } from '@lodge/domain';
import { LeaseLost, SendFailure } from '@lodge/ports';
import type {
  ChannelAccount,
  ChannelConnection,
  ConnectionHost,
  InboundMessage,
  OutboundPart,
  ProgressMessages,
  RenderedText,
  SendTarget,
} from '@lodge/ports';
import { Backoff, pause } from '../shared/backoff.ts';
import { committed } from '../shared/commit.ts';
import { pressed } from '../shared/pressed.ts';
import { BotApi, isToken, TelegramError } from './api.ts';
import type { TelegramServer } from './api.ts';
import { openFile } from './files.ts';
import { botOf, cursorOf, offsetOf } from './identity.ts';
import type { Bot } from './identity.ts';
import { messageOf } from './inbound.ts';
import { Poller } from './poll.ts';
import { PressAnswers, pressOf } from './presses.ts';
import { TelegramProgress } from './progress.ts';
import * as reasons from './reasons.ts';
import { Sender } from './send.ts';
import type { TelegramTimings } from './timings.ts';

export class TelegramConnection implements ChannelConnection {
  private readonly account: ChannelAccount;
  private readonly host: ConnectionHost;
  private readonly timings: TelegramTimings;
  private readonly server: TelegramServer;
  private readonly bot: BotApi;
  private readonly sender: Sender;
  private readonly answers: PressAnswers;
  private readonly ending = new AbortController();
  private readonly backoff: Backoff;
  private readonly conflictBackoff: Backoff;
  private readonly ended: Promise<void>;
  /** The offset of committed updates. */
  private offset: number | null;
  private said = '';
  private identity: Bot | null = null;

  constructor(server: TelegramServer, timings: TelegramTimings, account: ChannelAccount, host: ConnectionHost) {
    this.account = account;
    this.host = host;
    this.timings = timings;
    this.server = server;
    this.bot = new BotApi(server, account.credentials['botToken'] ?? '');
    this.offset = offsetOf(account.cursor, this.bot.token);
    this.sender = new Sender(this.bot, timings);
    this.answers = new PressAnswers(this.bot, timings, this.ending.signal);
    this.backoff = new Backoff(timings.backoff);
    this.conflictBackoff = new Backoff(timings.conflictBackoff);
    this.ended = this.run();
  }

  get progress(): ProgressMessages {
    return new TelegramProgress(this.bot, this.timings);
  }

  send(to: SendTarget, part: OutboundPart, _key: string, signal: AbortSignal): Promise<{ readonly id: string }> {
    if (this.ending.signal.aborted || !isToken(this.bot.token)) {
      return Promise.reject(new SendFailure('retry', 'The channel is not connected.'));
    }
    return this.sender.send(to, part, signal);
  }

  closeChoices(to: SendTarget, id: string, text: RenderedText, signal: AbortSignal): Promise<void> {
    return this.sender.closeChoices(to, id, text, signal);
  }

  typing(to: Pick<SendTarget, 'conversationId' | 'replyTo'>, signal: AbortSignal): Promise<void> {
    return this.sender.typing(to, signal);
  }

  open(ref: string, maxBytes: number, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return openFile(this.bot, ref, maxBytes, { timings: this.timings, signal });
  }

  async close(): Promise<void> {
    this.ending.abort();
    await this.ended;
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    // The caller has its connection before it hears anything.
    await Promise.resolve();
    if (!isToken(this.bot.token)) return this.say({ status: 'error', reason: reasons.wrongKind });
    this.say({ status: 'connecting' });
    while (!this.isOver) {
      try {
        if (await this.session()) return;
      } catch (error) {
        if (error instanceof LeaseLost) return this.ending.abort();
        if (this.isOver) return;
        // Nothing is known to come here: all the same the loop goes on.
        this.host.log.error(
          { name: error instanceof Error ? error.name : 'unknown' },
          'telegram connection begins anew',
        );
        await this.backoff.wait(this.ending.signal);
      }
    }
  }

  private get isOver(): boolean {
    return this.ending.signal.aborted;
  }

  /** Polls until an error. Returns true if no further try is wanted. */
  private async session(): Promise<boolean> {
    const poller = new Poller(this.bot, this.timings, this.host.log, this.offset);
    let failures = 0;
    while (!this.isOver) {
      try {
        const updates = await this.poll(poller);
        if (poller.isDeaf) this.say({ status: 'disconnected', reason: reasons.deaf });
        else this.sayConnected();
        if (!(await this.take(updates, poller))) return true;
        failures = 0;
        this.backoff.succeeded();
        this.conflictBackoff.succeeded();
        if (poller.isDeaf) await this.backoff.wait(this.ending.signal);
      } catch (error) {
        if (!(error instanceof TelegramError)) throw error;
        if (this.isOver) return true;
        failures += 1;
        poller.failed(error);
        if (await this.isFatal(error)) return true;
        await this.waitAfter(error, failures);
      }
    }
    return true;
  }

  /** Some bots at a time may open connections; long polls do not count. */
  private async poll(poller: Poller): Promise<readonly Json[]> {
    const { signal } = this.ending;
    if (!this.identity) await this.server.opening.through(() => this.identify(), { signal });
    return poller.isLong ? poller.next(signal) : this.server.opening.through(() => poller.next(signal), { signal });
  }

  private async identify(): Promise<void> {
    if (this.identity) return;
    const { callMs } = this.timings;
    const me = await this.bot.call(callMs, this.ending.signal, (api, signal) => api.getMe(signal));
    this.identity = botOf(me, this.bot.token);
  }

  /** Commits a batch; only then the next poll acknowledges it. */
  private async take(updates: readonly Json[], poller: Poller): Promise<boolean> {
    const next = poller.offsetAfter(updates);
    if (next === null) return !this.isOver;
    if (!(await this.takePresses(updates))) return false;
    const messages = updates.flatMap((update) => this.read(update));
    const cursor = cursorOf(this.bot.token, next);
    const tries = { backoff: new Backoff(this.timings.backoff), signal: this.ending.signal };
    if (!(await committed(this.host, messages, cursor, tries))) return false;
    this.offset = next;
    poller.committed(next);
    return true;
  }

  /** One after another, before the batch is acknowledged. False: the connection was closed meanwhile. */
  private async takePresses(updates: readonly Json[]): Promise<boolean> {
    for (const update of updates) {
      const given = pressOf(update);
      if (given === null) continue;
      const tries = { backoff: new Backoff(this.timings.backoff), signal: this.ending.signal };
      const outcome = await pressed(this.host, given.press, tries);
      if (outcome === null) return false;
      this.answers.answer(given, outcome);
    }
    return true;
  }

  /** A shape that is not Telegram's holds nothing up. */
  private read(update: Json): readonly InboundMessage[] {
    try {
      const message = messageOf(update, this.identity!);
      return message ? [message] : [];
    } catch {
      this.host.log.warn({}, 'telegram update could not be read');
      return [];
    }
  }

  /** A single refusal may be a mistake of one of Telegram's servers: asked once more before a person is bothered. */
  private async isFatal(error: TelegramError): Promise<boolean> {
    if (!reasons.isOfToken(error)) return false;
    await pause(Math.min(1_000, this.timings.backoff.firstMs), this.ending.signal);
    try {
      await this.bot.call(this.timings.callMs, this.ending.signal, (api, signal) => api.getMe(signal));
      return false;
    } catch (again) {
      if (!(again instanceof TelegramError) || !reasons.isOfToken(again)) return false;
      this.say({ status: 'error', reason: this.identity ? reasons.revoked : reasons.invalid });
      return true;
    }
  }

  private async waitAfter(error: TelegramError, failures: number): Promise<void> {
    const { signal } = this.ending;
    this.host.log.debug({ code: error.code, description: error.description, failures }, 'telegram poll failed');
    if (error.code === 409) {
      this.say({ status: 'disconnected', reason: await this.conflictReason(error) });
      return this.conflictBackoff.wait(signal);
    }
    const isFirst = failures === 1 && error.retryAfterMs === 0 && this.said.startsWith('connected');
    // One broken connection is no news, and no reason to wait.
    if (isFirst && error.code === null) return;
    this.say({ status: 'disconnected', reason: reasons.passing(error) });
    await this.backoff.wait(signal, error.retryAfterMs);
  }

  private async conflictReason(error: TelegramError): Promise<ChannelReason> {
    if (!error.description.includes('webhook')) return reasons.secondPoller;
    const { callMs } = this.timings;
    const info = await this.bot
      .call(callMs, this.ending.signal, (api, signal) => api.getWebhookInfo(signal))
      .catch(() => null);
    return reasons.webhookSet(typeof info?.url === 'string' ? info.url : '');
  }

  private sayConnected(): void {
    const { id, name, hasPrivacyMode } = this.identity!;
    const identity = { id: String(id), name };
    const isNoted = hasPrivacyMode && this.account.wantsUnaddressed;
    this.say({ status: 'connected', identity, accountKey: identity.id, ...(isNoted && { note: reasons.privacyMode }) });
  }

  /** Says what is new, and nothing once it is over. */
  private say(state: Parameters<ConnectionHost['changed']>[0]): void {
    const said = `${state.status} ${'reason' in state ? state.reason.message : ''}`;
    if (this.isOver || said === this.said) return;
    this.said = said;
    this.host.changed(state);
  }
}
