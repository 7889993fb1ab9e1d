import { ChannelFailure, LeaseLost } from '@lodge/ports';
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
import type { ChannelIdentity, ChannelReason } from '@lodge/domain';
import { GatewayIntentBits } from 'discord-api-types/v10';
import { Backoff, pause } from '../shared/backoff.ts';
import type { BackoffTimings } from '../shared/backoff.ts';
import { committed } from '../shared/commit.ts';
import { within } from '../shared/deadline.ts';
import { Inbox } from '../shared/inbox.ts';
import { ConnectionLife } from '../shared/life.ts';
import { glancedMessages, missedMessages } from '../shared/missed.ts';
import type { PlatformError } from '../shared/platform-error.ts';
import { PressTaker } from '../shared/pressed.ts';
import { Silence } from '../shared/silence.ts';
import type { Look, SilenceTimings } from '../shared/silence.ts';
import { answerPress, closeChoices, pressOf } from './choices.ts';
import { GatewayRefusal, GatewaySocket } from './gateway.ts';
import type { Dispatch, GatewayEnd, GatewayTimings } from './gateway.ts';
import { gatewayOf } from './login.ts';
import { Candidates, messagesAfter } from './missed.ts';
import { DiscordPlaces } from './places.ts';
import type { DiscordSession } from './places.ts';
import { channelOf, discordMessageOf, inboundOf, placeId } from './reader.ts';
import type { DiscordMessage } from './reader.ts';
import { DiscordProgress } from './progress.ts';
import { failureOf, fatalClose, passingReason } from './reasons.ts';
import { DiscordError, DiscordRest } from './rest.ts';
import type { DiscordApi } from './rest.ts';
import { Rooms } from './rooms.ts';
import type { Room } from './rooms.ts';
import { openFile, sendPart } from './send.ts';
import { accountKeyOf, discordToken, whoAmI } from './verify.ts';

export interface DiscordTimings extends GatewayTimings, SilenceTimings {
  readonly backoff: BackoffTimings;
  /** Discord wants 1 to 5 s before a login after a session that was refused. */
  readonly loginWaitMs: number;
  /** Time after a login until the bot's servers are reported. */
  readonly settleMs: number;
  /** A message that is older when it is found so was not on its way any more. */
  readonly lateMs: number;
  readonly keepPlaceEveryMs: number;
}

const maxFailedResumes = 3;

/**
 * One agent's bot. Its session is resumed if possible: the gateway repeats the events that came meanwhile. Events wait in
 * one inbox; the place in the session is kept with the messages that were committed up to it, never before. Where a session
 * is lost, recent channels are read from the last message that was taken.
 */
export class DiscordConnection implements ChannelConnection {
  private readonly api: DiscordApi;
  private readonly timings: DiscordTimings;
  private readonly account: ChannelAccount;
  private readonly host: ConnectionHost;
  private readonly places: DiscordPlaces;
  private readonly inbox: Inbox;
  private readonly candidates = new Candidates();
  private readonly life: ConnectionLife;
  private readonly presses: PressTaker;
  private readonly running: Promise<void>;
  private rest: DiscordRest | null = null;
  private rooms: Rooms | null = null;
  private self: ChannelIdentity | null = null;
  private socket: GatewaySocket | null = null;
  /** As far as its events were taken; those of them that wait are in the inbox. */
  private live: DiscordSession | null;
  private failedResumes = 0;
  /** A first place is kept: from there on messages may be missed. */
  private isBegun: boolean;
  private silence: Silence | null = null;

  constructor(api: DiscordApi, timings: DiscordTimings, account: ChannelAccount, host: ConnectionHost) {
    this.api = api;
    this.timings = timings;
    this.account = account;
    this.host = host;
    this.life = new ConnectionLife('discord', host);
    this.places = new DiscordPlaces(account.cursor);
    this.live = this.places.session;
    this.isBegun = account.cursor !== null;
    this.inbox = new Inbox((error) => this.giveUp(error));
    const { signal } = this.life;
    const onLost = (error: unknown): void => this.giveUp(error);
    this.presses = new PressTaker({ host, withinMs: pressMs, backoff: timings.backoff, signal, onLost });
    this.life.changed({ status: 'connecting' });
    this.running = this.run().catch((error: unknown) => this.giveUp(error));
  }

  get progress(): ProgressMessages {
    return new DiscordProgress(() => this.restOf());
  }

  async send(to: SendTarget, part: OutboundPart, key: string, signal: AbortSignal): Promise<{ readonly id: string }> {
    return sendPart(() => this.restOf(), to, part, key, signal);
  }

  closeChoices(to: SendTarget, id: string, text: RenderedText, signal: AbortSignal): Promise<void> {
    return closeChoices(() => this.restOf(), to, id, text, signal);
  }

  async typing(to: Pick<SendTarget, 'conversationId'>, signal: AbortSignal): Promise<void> {
    const channelId = channelOf(to.conversationId);
    if (channelId !== null) await this.restOf().call('POST', `/channels/${channelId}/typing`, signal);
  }

  async open(ref: string, maxBytes: number, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return openFile(this.restOf(), this.api, ref, maxBytes, signal);
  }

  async close(): Promise<void> {
    this.life.end();
    await this.socket?.close();
    await Promise.all([this.inbox.end(), this.running]);
    this.rest?.end();
  }

  private restOf(): DiscordRest {
    this.rest ??= new DiscordRest(this.api, discordToken(this.account.credentials));
    return this.rest;
  }

  private async run(): Promise<void> {
    const rest = this.restOf();
    const backoff = new Backoff(this.timings.backoff);
    this.rooms = new Rooms(rest);
    while (!this.self && !this.life.isOver) {
      this.self = await whoAmI(rest, this.life.signal).catch((error: unknown) => this.afterFailure(error, backoff));
    }
    while (!this.life.isOver) {
      const socket = await this.openSocket(backoff).catch((error: unknown) => this.afterFailure(error, backoff));
      if (!socket || this.life.isOver) continue;
      this.socket = socket;
      await this.opened(socket, backoff);
      const openedAt = performance.now();
      const end = await this.untilEnded(socket);
      this.socket = null;
      if (!this.life.isOver) await this.afterEnd(end, performance.now() - openedAt < hastyMs, backoff);
    }
  }

  private async openSocket(backoff: Backoff): Promise<GatewaySocket | null> {
    const { signal } = this.life;
    const token = discordToken(this.account.credentials);
    const session = this.live;
    // The address of the session may be gone for good while Discord is there.
    const url = await gatewayOf(this.restOf(), this.api, this.failedResumes === 0 ? session : null, signal);
    const login = { token, intents: intentsOf(this.account), session };
    const isNew = session === null;
    try {
      const socket = await GatewaySocket.open(
        url,
        login,
        this.timings,
        (event, from) => this.take(event, from),
        signal,
      );
      this.failedResumes = 0;
      return socket;
    } catch (error) {
      if (!(error instanceof GatewayRefusal) || this.life.isOver) throw error;
      const { end, wasAsked } = error;
      this.assertMendable(end);
      if (!isNew) {
        this.failedResumes += 1;
        const isGone = wasAsked && (isSessionGone(end) || this.failedResumes >= maxFailedResumes);
        if (isGone) await this.loseSession();
      }
      if (this.live !== null || isNew) {
        this.life.changed({ status: 'disconnected', reason: passingReason(error) });
        await backoff.wait(signal);
      }
      return null;
    }
  }

  private async opened(socket: GatewaySocket, backoff: Backoff): Promise<void> {
    backoff.succeeded();
    this.live = socket.session;
    if (!this.isBegun) await this.keepPlace(beginningTimeoutMs);
    this.isBegun = true;
    const identity = this.self!;
    const accountKey = accountKeyOf(this.account.credentials, identity);
    this.life.changed({ status: 'connected', identity, accountKey });
  }

  private async untilEnded(socket: GatewaySocket): Promise<GatewayEnd> {
    const { keepPlaceEveryMs } = this.timings;
    const silence = new Silence(this.timings);
    this.silence = silence;
    const looking = setInterval(() => {
      const look = silence.due(this.places.hasUnread);
      if (look !== null && this.inbox.isIdle) this.inbox.addOwn(() => this.compare(look, socket));
    }, silence.everyMs);
    const keeping = setInterval(() => {
      if (this.inbox.isIdle) void this.keepPlace(keepPlaceEveryMs).catch((error: unknown) => this.giveUp(error));
    }, keepPlaceEveryMs);
    try {
      return await socket.ended;
    } finally {
      clearInterval(looking);
      clearInterval(keeping);
      this.live = socket.session;
    }
  }

  private async afterEnd(end: GatewayEnd, isHasty: boolean, backoff: Backoff): Promise<void> {
    this.assertMendable(end);
    if (isSessionGone(end)) await this.loseSession();
    if (end.why === 'full') await this.inbox.drained();
    // Discord asks for it every few hours, and the session goes on.
    const isAsked = end.why === 'reconnect';
    if (!isAsked) this.life.changed({ status: 'disconnected', reason: end.why === 'deaf' ? deafReason : lostReason });
    if (!isAsked || isHasty) await backoff.wait(this.life.signal);
  }

  private async loseSession(): Promise<void> {
    this.live = null;
    this.places.session = null;
    this.failedResumes = 0;
    await pause(this.timings.loginWaitMs * (1 + 4 * Math.random()), this.life.signal);
  }

  private assertMendable(end: GatewayEnd): void {
    const fatal = end.why === 'closed' ? fatalClose(end.code) : null;
    if (fatal) throw new ChannelFailure(fatal);
  }

  /** Waits before the next try. Throws what a person must mend. */
  private async afterFailure(error: unknown, backoff: Backoff): Promise<null> {
    if (this.life.isOver) return null;
    if (error instanceof ChannelFailure || error instanceof LeaseLost) throw error;
    if (error instanceof DiscordError && error.status === 401) throw failureOf(error);
    this.life.changed({ status: 'disconnected', reason: passingReason(error) });
    await backoff.wait(this.life.signal, error instanceof DiscordError ? error.retryAfterMs : 0);
    return null;
  }

  /** False: there is no room. */
  private take({ type, seq, data, bytes }: Dispatch, socket: GatewaySocket): boolean {
    this.silence?.heard();
    // Ahead of the first event: the place of its channel moves with it.
    if (type === 'READY' && this.isBegun) this.inbox.addOwn(() => this.compare('gap', socket, seq));
    if (type === 'INTERACTION_CREATE') this.takePress(data);
    if (type === 'GUILD_CREATE') this.candidates.note(data, this.places);
    const message = type === 'MESSAGE_CREATE' && this.self ? discordMessageOf(data, this.self.id, 'event') : null;
    if (message) {
      return this.inbox.add(Math.min(bytes, 64 * 1024), async () => {
        await this.deliver([message], socket.session && { ...socket.session, seq });
      });
    }
    // While something waits, also what was missed before this session, the place stays behind it.
    if (this.inbox.isIdle && socket.session) this.places.session = { ...socket.session, seq };
    return true;
  }

  /** Discord reports a press to the person that is not answered in time. */
  private takePress(data: unknown): void {
    const given = pressOf(data);
    if (given === null) return;
    this.presses.take(
      async () => {
        const room = given.room ?? (await this.roomOf(given.channelId));
        const kind = room.isDirect ? 'direct' : 'group';
        return { ...given.press, conversation: { id: placeId(given.channelId, room), kind } };
      },
      (pressed) => answerPress(this.restOf(), given, pressed, this.life.signal),
    );
  }

  /**
   * `session`: the place that is reached with the messages. Returns the wanted messages, once committed; null: it ended
   * before. Rejects with `LeaseLost`.
   */
  private async deliver(
    messages: readonly DiscordMessage[],
    session: DiscordSession | null,
  ): Promise<readonly InboundMessage[] | null> {
    const { signal } = this.life;
    const inbound: InboundMessage[] = [];
    for (const message of messages) {
      if (message.isDirect === false && !this.isWanted(message.isForAgent)) continue;
      const of = inboundOf(message, message.isDirect === true ? direct : await this.roomOf(message.channelId));
      if (this.isWanted(of.addressed)) inbound.push(of);
    }
    if (signal.aborted) return null;
    for (const { channelId, id } of messages) {
      if (inbound.some((each) => each.id === id)) this.places.took(channelId, id);
      else this.places.saw(channelId, id);
    }
    if (session) this.places.session = session;
    const tries = { backoff: new Backoff(this.timings.backoff), signal };
    const isDone = inbound.length === 0 || (await committed(this.host, inbound, this.places.cursor(), tries));
    return isDone ? inbound : null;
  }

  private isWanted(isAddressed: boolean): boolean {
    return isAddressed || this.account.wantsUnaddressed;
  }

  /** A channel that cannot be seen for long is taken for one without a name. */
  private async roomOf(channelId: string): Promise<Room> {
    const { signal } = this.life;
    const backoff = new Backoff(this.timings.backoff);
    for (let tries = 0; tries < 5 && !signal.aborted; tries += 1) {
      try {
        return (await this.rooms!.of(channelId, signal)) ?? nameless;
      } catch (error) {
        await backoff.wait(signal, error instanceof DiscordError ? error.retryAfterMs : 0);
      }
    }
    return nameless;
  }

  private async compare(why: 'gap' | Look, socket: GatewaySocket, seq = 0): Promise<void> {
    const { signal } = this.life;
    if (why === 'gap') await pause(this.timings.settleMs, signal);
    const access = { rest: this.restOf(), selfId: this.self!.id };
    const histories = {
      after: (id: string, last: string) => messagesAfter(access, id, last, signal),
      isGone: (refusal: PlatformError) => (refusal as DiscordError).status !== 401,
      retryMs: this.timings.backoff.firstMs,
      signal,
    };
    let isDeaf = false;
    const others = why === 'glance' ? [] : this.candidates.take(this.places);
    const found =
      why === 'glance' ? glancedMessages(histories, this.places) : missedMessages(histories, this.places, others);
    for await (const messages of found) {
      const wanted = await this.deliver(messages, null);
      if (!wanted) return;
      isDeaf ||= wanted.some(({ sentAt }) => Date.now() - sentAt.getTime() > this.timings.lateMs);
    }
    if (this.life.isOver) return;
    if (why === 'gap') {
      this.places.session = socket.session && { ...socket.session, seq };
    }
    if (why === 'gap' || !isDeaf) return;
    this.host.log.warn({ channel: 'discord' }, 'an open session delivered nothing; it is replaced');
    socket.terminate({ why: 'deaf' });
  }

  /** So that the next connection need not be told everything again. */
  private async keepPlace(timeoutMs: number): Promise<void> {
    await within(timeoutMs, this.life.signal, () => this.host.at(this.places.cursor())).catch((error: unknown) => {
      if (error instanceof LeaseLost) throw error;
    });
  }

  private giveUp(error: unknown): void {
    if (this.life.isOver) return;
    this.life.giveUp(error);
    this.socket?.terminate({ why: 'reconnect' });
    this.rest?.end();
  }
}

/** Intents that need no switch in Discord's portal; the contents of all messages need one. */
const intentsOf = ({ wantsUnaddressed }: ChannelAccount): number =>
  GatewayIntentBits.Guilds |
  GatewayIntentBits.GuildMessages |
  GatewayIntentBits.DirectMessages |
  (wantsUnaddressed ? GatewayIntentBits.MessageContent : 0);

/** Whether the session cannot be resumed: 1000, not authenticated, wrong number, timed out, or refused. */
const isSessionGone = (end: GatewayEnd): boolean =>
  end.why === 'deaf' ||
  (end.why === 'invalid' && !end.canResume) ||
  (end.why === 'closed' && [1_000, 4_003, 4_007, 4_009].includes(end.code));

/** A socket that would be replaced sooner is not replaced at once. */
const hastyMs = 10_000;
const beginningTimeoutMs = 5_000;
/** Discord waits three seconds for an answer. */
const pressMs = 2_500;
const direct: Room = { isDirect: true, parentId: null, title: null };
const nameless: Room = { isDirect: false, parentId: null, title: null };

const lostReason: ChannelReason = {
  code: 'platform_unreachable',
  message: 'The connection to Discord ended. It is opened again by itself.',
};
const deafReason: ChannelReason = {
  code: 'deaf',
  message: 'The connection was open and Discord delivered nothing. It is opened again by itself.',
};
