import { ChannelFailure, LeaseLost } from '@lodge/ports';
import type {
  ChannelAccount,
  ChannelConnection,
  ConnectionHost,
  OutboundPart,
  ProgressMessages,
  RenderedText,
  SendTarget,
} from '@lodge/ports';
import { isJsonObject } from '@lodge/domain';
import { Backoff } from '../shared/backoff.ts';
import type { BackoffTimings } from '../shared/backoff.ts';
import { committed } from '../shared/commit.ts';
import { within } from '../shared/deadline.ts';
import { textOf } from '../shared/plain.ts';
import { callSlack, listOf, SlackError } from './calls.ts';
import { answerPress, closeChoices, pressOf } from './choices.ts';
import type { SlackApi } from './calls.ts';
import { isSlackUrl, openFile } from './files.ts';
import { Inbox } from '../shared/inbox.ts';
import { ConnectionLife } from '../shared/life.ts';
import { glancedMessages, missedMessages } from '../shared/missed.ts';
import { Places } from '../shared/places.ts';
import { PressTaker } from '../shared/pressed.ts';
import { Silence } from '../shared/silence.ts';
import type { Look, SilenceTimings } from '../shared/silence.ts';
import { messagesAfter, otherPlaces } from './missed.ts';
import { SlackNames } from './names.ts';
import { isLater, placeId, slackMarks, tsOf } from './places.ts';
import { SlackProgress } from './progress.ts';
import { inboundOf, slackMessageOf } from './reader.ts';
import type { SlackMessage } from './reader.ts';
import { fatalReason, lostReasons, passingReason } from './reasons.ts';
import { sendPart } from './send.ts';
import { SlackSocket } from './socket.ts';
import type { Envelope, SocketEnd, SocketTimings } from './socket.ts';
import { TypingSigns } from './typing.ts';
import { accountKeyOf, failed, slackTokens, whoAmI } from './verify.ts';
import type { SlackSelf } from './verify.ts';

export interface SlackTimings extends SocketTimings, SilenceTimings {
  readonly backoff: BackoffTimings;
  /** A message that is older when it is found so was not on its way any more: the socket is deaf. */
  readonly lateMs: number;
  readonly lookAgainMs: number;
}

/**
 * One agent's Slack app. Sockets are opened for ever; the next one is open before Slack closes the one before. Events wait
 * in one inbox: each is committed, then acknowledged. Where no socket was, or nothing came for long, the histories of the
 * recent conversations are compared with what was taken. A problem that a person must repair ends it in `error`.
 */
export class SlackConnection implements ChannelConnection {
  private readonly api: SlackApi;
  private readonly timings: SlackTimings;
  private readonly account: ChannelAccount;
  private readonly host: ConnectionHost;
  private readonly places: Places;
  private readonly inbox: Inbox;
  private readonly life: ConnectionLife;
  private readonly presses: PressTaker;
  private readonly sockets = new Set<SlackSocket>();
  private readonly running: Promise<void>;
  private token = '';
  private self: SlackSelf | null = null;
  private names: SlackNames | null = null;
  private typingSigns: TypingSigns | null = null;
  private silence: Silence | null = null;

  constructor(api: SlackApi, timings: SlackTimings, account: ChannelAccount, host: ConnectionHost) {
    this.api = api;
    this.timings = timings;
    this.account = account;
    this.host = host;
    this.life = new ConnectionLife('slack', host);
    this.places = new Places(slackMarks, account.cursor);
    this.inbox = new Inbox((error) => this.giveUp(error));
    const { signal } = this.life;
    const onLost = (error: unknown): void => this.giveUp(error);
    this.presses = new PressTaker({ host, withinMs: pressMs, backoff: timings.backoff, signal, onLost });
    this.life.changed({ status: 'connecting' });
    this.running = this.run().catch((error: unknown) => this.giveUp(error));
  }

  get progress(): ProgressMessages {
    return new SlackProgress(this.api, this.account.credentials['botToken'] ?? '');
  }

  async send(to: SendTarget, part: OutboundPart, key: string, signal: AbortSignal): Promise<{ readonly id: string }> {
    const sender = {
      api: this.api,
      token: this.account.credentials['botToken'] ?? '',
      lookAgainMs: this.timings.lookAgainMs,
    };
    const sent = await sendPart(sender, to, part, key, signal);
    if (to.index >= to.count - 1) this.typingSigns?.takeBack(to, this.life.signal);
    return sent;
  }

  closeChoices(to: SendTarget, id: string, text: RenderedText, signal: AbortSignal): Promise<void> {
    const access = { api: this.api, token: this.account.credentials['botToken'] ?? '' };
    return closeChoices(access, to, id, text, signal);
  }

  async typing(to: Pick<SendTarget, 'conversationId' | 'replyTo'>, signal: AbortSignal): Promise<void> {
    await this.typingSigns?.show(to, signal);
  }

  async open(ref: string, maxBytes: number, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return openFile(this.api, slackTokens(this.account.credentials).bot, ref, maxBytes, signal);
  }

  async close(): Promise<void> {
    this.life.end();
    await Promise.all([...this.sockets].map((socket) => socket.close()));
    await Promise.all([this.inbox.end(), this.running]);
  }

  private async run(): Promise<void> {
    const tokens = slackTokens(this.account.credentials);
    this.token = tokens.bot;
    const { signal } = this.life;
    const backoff = new Backoff(this.timings.backoff);
    const self = await this.tried(backoff, 'bot', async () => (await whoAmI(this.api, tokens.bot, signal)).self);
    if (!self) return;
    this.self = self;
    this.names = new SlackNames(this.api, tokens.bot);
    this.typingSigns = new TypingSigns(this.api, tokens.bot);
    await this.keepOpen(tokens.app, backoff);
  }

  /** Two sockets at the most: the one that Slack is about to close, and the next. */
  private async keepOpen(appToken: string, backoff: Backoff): Promise<void> {
    let before: SlackSocket | null = null;
    let isKept = this.account.cursor !== null;
    while (!this.life.isOver) {
      const isFirst: boolean = before === null && this.account.cursor === null;
      const socket: SlackSocket | null = await this.tried(backoff, 'app', () => this.openSocket(appToken, isFirst));
      if (!socket) return;
      void before?.close();
      if (!isKept) isKept = await this.keepBeginning();
      backoff.succeeded();
      const { userId: id, name } = this.self!;
      this.life.changed({ status: 'connected', identity: { id, name }, accountKey: accountKeyOf(this.self!) });
      const openedAt = performance.now();
      const why = await this.untilReplaced(socket);
      if (this.life.isOver) return;
      if (why === 'disabled') throw failed('platform_refused', socketModeOff);
      if (why !== 'refresh') this.life.changed({ status: 'disconnected', reason: lostReasons[why] });
      if (why === 'full') await this.inbox.drained();
      if (why !== 'refresh' || performance.now() - openedAt < hastyMs) await backoff.wait(this.life.signal);
      before = socket;
    }
  }

  /** So that what is written from now on is found, also when this connection dies before its first message. */
  private async keepBeginning(): Promise<boolean> {
    try {
      await within(beginningTimeoutMs, this.life.signal, () => this.host.at(this.places.cursor()));
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      return false;
    }
  }

  /** Resolves when another socket is needed. Compares histories after each long silence until then. */
  private async untilReplaced(socket: SlackSocket): Promise<SocketEnd> {
    const silence = new Silence(this.timings);
    this.silence = silence;
    const timer = setInterval(() => {
      const look = silence.due(this.places.hasUnread);
      if (look !== null && this.inbox.isIdle) this.inbox.addOwn(() => this.compare(look, socket));
    }, silence.everyMs);
    try {
      return await socket.wantsReplacement;
    } finally {
      clearInterval(timer);
    }
  }

  /** Tries until it works; null when the connection ended meanwhile. Throws `ChannelFailure` for what a person must mend. */
  private async tried<T>(backoff: Backoff, kind: 'app' | 'bot', work: () => Promise<T>): Promise<T | null> {
    while (!this.life.isOver) {
      try {
        return await work();
      } catch (error) {
        if (this.life.isOver) return null;
        if (error instanceof ChannelFailure) throw error;
        const fatal = fatalReason(error, kind);
        if (fatal) throw new ChannelFailure(fatal);
        if (this.sockets.size === 0) this.life.changed({ status: 'disconnected', reason: passingReason(error) });
        await backoff.wait(this.life.signal, error instanceof SlackError ? error.retryAfterMs : 0);
      }
    }
    return null;
  }

  private async openSocket(appToken: string, isFirst: boolean): Promise<SlackSocket> {
    const { signal } = this.life;
    const answer = await callSlack(this.api, appToken, 'apps.connections.open', {}, signal);
    const url = textOf(answer['url'], 4_000);
    if (!isSlackUrl(url, this.api) || !url.startsWith('ws')) throw new SlackError('refused', 'no_socket_url');
    const on = {
      // Ahead of the first event, because the place of its conversation moves with it. A socket that Slack had replaced may have
      // been deaf. Before the very first one there was nothing to miss.
      hello: (from: SlackSocket) => {
        if (!isFirst) this.inbox.addOwn(() => this.compare('gap', from));
      },
      envelope: (envelope: Envelope, from: SlackSocket) => this.take(envelope, from),
    };
    const socket = await SlackSocket.open(url, this.timings, on, signal);
    this.sockets.add(socket);
    void socket.ended.then(() => this.sockets.delete(socket));
    return socket;
  }

  private take(envelope: Envelope, socket: SlackSocket): void {
    this.silence?.heard();
    if (envelope.type === 'interactive') return this.takePress(envelope, socket);
    const hasRoom = this.inbox.add(envelope.bytes, async () => {
      if (await this.process(envelope)) socket.acknowledge(envelope);
    });
    // Later events would pass the one that had no room: what was missed is read after the next socket's hello.
    if (!hasRoom) socket.terminate('full');
  }

  /** Slack reports to the person when a press is not acknowledged in time. The person presses again. */
  private takePress(envelope: Envelope, socket: SlackSocket): void {
    const { api, token } = this;
    const given = pressOf(envelope.payload);
    if (given === null) return socket.acknowledge(envelope);
    this.presses.take(
      async () => given.press,
      async (pressed) => {
        socket.acknowledge(envelope);
        await answerPress({ api, token }, given, pressed, this.life.signal);
      },
    );
  }

  /** True: committed, or of no interest. Rejects with `LeaseLost`. */
  private async process({ type, payload }: Envelope): Promise<boolean> {
    if (this.life.isOver) return false;
    if (type !== 'events_api' || !isJsonObject(payload) || !this.isOurs(payload)) return true;
    const message = slackMessageOf(payload['event'], this.self!);
    return message ? this.deliver([message]) : true;
  }

  /** An app that is installed in several workspaces has their events on the same sockets. */
  private isOurs({ authorizations }: Readonly<Record<string, unknown>>): boolean {
    const all = listOf(authorizations, 20).filter(isJsonObject);
    return (
      all.length === 0 ||
      all.some(({ user_id: user, team_id: team }) => user === this.self!.userId || team === this.self!.teamId)
    );
  }

  private async deliver(messages: readonly SlackMessage[]): Promise<boolean> {
    const { signal } = this.life;
    const naming = { self: this.self!, names: this.names! };
    const wanted = messages.filter((each) => this.isWanted(each));
    const inbound = [];
    for (const message of wanted) inbound.push(await inboundOf(message, naming, signal));
    if (signal.aborted) return false;
    for (const { place, ts } of messages) this.places.saw(placeId(place), ts);
    for (const [at, { conversation }] of inbound.entries()) {
      const { place, ts } = wanted[at]!;
      for (const id of [placeId(place), conversation.id]) this.places.took(id, ts);
    }
    if (inbound.length === 0) return true;
    return committed(this.host, inbound, this.places.cursor(), { backoff: new Backoff(this.timings.backoff), signal });
  }

  private isWanted({ isAddressed }: SlackMessage): boolean {
    return isAddressed || this.account.wantsUnaddressed;
  }

  private async compare(why: 'gap' | Look, socket: SlackSocket): Promise<void> {
    const { signal } = this.life;
    const access = { api: this.api, token: this.token, self: this.self! };
    const histories = {
      after: (id: string, last: string) => messagesAfter(access, id, last, signal),
      isGone: () => true,
      retryMs: this.timings.backoff.firstMs,
      signal,
    };
    const since = tsOf(Date.now() - marginMs);
    const others = why === 'glance' ? null : await otherPlaces(access, this.places, signal);
    let isDeaf = false;
    const found =
      why === 'glance' ? glancedMessages(histories, this.places) : missedMessages(histories, this.places, others ?? []);
    for await (const messages of found) {
      isDeaf ||= messages.some(
        (each) => this.isWanted(each) && Date.now() - Number(each.ts) * 1000 > this.timings.lateMs,
      );
      if (!(await this.deliver(messages))) return;
    }
    // The places of all conversations without one move up to the beginning of this reading.
    if (others !== null && !signal.aborted && isLater(since, this.places.since)) this.places.since = since;
    if (why === 'gap' || !isDeaf || this.life.isOver) return;
    this.host.log.warn({ channel: 'slack' }, 'an open socket delivered nothing; it is replaced');
    socket.terminate('deaf');
  }

  private giveUp(error: unknown): void {
    if (this.life.isOver) return;
    this.life.giveUp(error);
    for (const socket of this.sockets) socket.terminate('closed');
  }
}

/** A socket that would be replaced sooner is not replaced at once. */
const hastyMs = 10_000;
const beginningTimeoutMs = 5_000;
/** Slack waits three seconds for an acknowledgement. */
const pressMs = 2_500;
/** Time that a message may take from Slack's clock to its history and to ours. */
const marginMs = 60_000;

const socketModeOff =
  "Socket Mode is switched off for this Slack app. Switch it on in the app's settings, then restart the channel.";
