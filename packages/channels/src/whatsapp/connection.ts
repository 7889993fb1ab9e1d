/**
 * A linked device of one agent, for ever: pairs it, connects it, and connects it anew.
 *
 *     connecting ─► pending_pairing (codes, until a phone takes one) ─► connected ◄─► disconnected
 *                        ▲ the codes ran out: waits to be asked            │
 *                        └──────────────── vault is cleared ◄── error (unlinked, locked, used elsewhere)
 *
 * One socket at a time: WhatsApp closes the older one of two. Whatever is not acknowledged stays at WhatsApp's server.
 */
import type { ChannelReason, Semaphore } from '@lodge/domain';
import { atMost, untilAborted } from '@lodge/domain';
import { LeaseLost, SendFailure } from '@lodge/ports';
import type { ChannelConnection, ConnectionHost, ConnectionState, OutboundPart, SendTarget } from '@lodge/ports';
import { Backoff } from '../shared/backoff.ts';
import { Chats } from './chats.ts';
import { DeviceKeys } from './device/keys.ts';
import { ownCodes } from './device/library.ts';
import type { Content, Update } from './device/library.ts';
import { numberOf, userOf } from './message.ts';
import { outcomeOf } from './outcome.ts';
import { Pairing } from './pairing.ts';
import { messageIdOf } from './sender.ts';
import { Session } from './session.ts';
import type { WhatsAppTimings } from './timings.ts';
import { answerOf, fileAnswerOf } from './answer.ts';
import { openFile } from './media/download.ts';
import type { MediaHost } from './media/host.ts';
import { Refs } from './media/refs.ts';
import { Uploads } from './media/upload.ts';

export interface ConnectionOptions {
  readonly url: URL;
  readonly root: Uint8Array;
  readonly media: MediaHost;
  readonly timings: WhatsAppTimings;
  readonly handshakes: Semaphore;
}

const maxClosingMs = 4_000;
/** How long a send waits for a connection that is being opened anew. */
const maxWaitMs = 5_000;
const maxConversationChars = 200;

export class WhatsAppConnection implements ChannelConnection {
  private readonly options: ConnectionOptions;
  private readonly host: ConnectionHost;
  private readonly keys: DeviceKeys;
  private readonly chats: Chats;
  private readonly pairing: Pairing;
  private readonly uploads: Uploads;
  private readonly backoff: Backoff;
  private readonly gone = new AbortController();
  private readonly running: Promise<void>;
  private session: Session | null = null;
  /** The last socket was made anew because nothing came: a backlog of the next one was kept from it. */
  private wasSilent = false;
  private isConnected = false;
  private ready = Promise.withResolvers<void>();
  private restrictedUntil: Date | null = null;

  constructor(options: ConnectionOptions, host: ConnectionHost) {
    this.options = options;
    this.host = host;
    this.keys = new DeviceKeys(host.vault, (error) => this.commitFailed(error));
    this.chats = new Chats(this.keys);
    this.backoff = new Backoff(options.timings.backoff);
    this.uploads = new Uploads(options.media, async (signal) => (await this.connected(signal)).socket.uploadLeave());
    this.pairing = new Pairing({
      rounds: options.timings.pairingRounds,
      codeShownMs: options.timings.codeShownMs,
      tell: (state) => this.tell(state),
      isPaired: () => this.keys.isPaired,
      codeFor: (phoneNumber) => this.session!.socket.pairingCode(phoneNumber),
      signal: this.gone.signal,
    });
    this.tell({ status: 'connecting' });
    this.running = this.run().catch((error: unknown) => {
      if (error instanceof LeaseLost || this.gone.signal.aborted) return;
      host.log.error({ error: (error as Error).name }, 'a WhatsApp connection ended for no known reason');
      this.tell({
        status: 'error',
        reason: {
          code: 'platform_refused',
          message: 'The connection failed for no known reason. Restart the channel.',
        },
      });
    });
  }

  async send(to: SendTarget, part: OutboundPart, key: string, signal: AbortSignal): Promise<{ readonly id: string }> {
    const jid = await this.jidOf(to.conversationId, signal);
    const content = await this.contentOf(part, to, signal);
    const session = await this.connected(signal);
    const id = messageIdOf(key);
    try {
      await session.sender.send(jid, content, id, AbortSignal.any([signal, this.gone.signal]));
    } catch (error) {
      if (error instanceof SendFailure && error.outcome === 'refused')
        void session.socket.askRestriction().catch(() => undefined);
      throw error;
    }
    return { id };
  }

  async typing(to: Pick<SendTarget, 'conversationId'>, signal: AbortSignal): Promise<void> {
    const { session } = this;
    if (!session || !this.isConnected) return;
    const jid = await this.jidOf(to.conversationId, signal).catch(() => null);
    if (jid !== null) await untilAborted(session.socket.composing(jid), signal).catch(() => undefined);
  }

  open(ref: string, maxBytes: number, given: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const signal = AbortSignal.any([given, this.gone.signal]);
    return openFile(ref, { host: this.options.media, refs: new Refs(this.keys.secret), maxBytes, signal });
  }

  async pairByNumber(phoneNumber: string): Promise<void> {
    await this.pairing.byNumber(phoneNumber);
  }

  async close(): Promise<void> {
    this.gone.abort();
    this.keys.close();
    this.session?.end(ownCodes.closed);
    await atMost(maxClosingMs, this.running, () => undefined);
  }

  private async contentOf(part: OutboundPart, to: SendTarget, given: AbortSignal): Promise<Content> {
    if (part.kind === 'text') return answerOf(part.text, to);
    const sent = await this.uploads.put(part, AbortSignal.any([given, this.gone.signal]));
    return fileAnswerOf(part, sent, to);
  }

  /** The session, or the next one when it is being opened anew. */
  private async connected(given: AbortSignal): Promise<Session> {
    const signal = AbortSignal.any([given, this.gone.signal, AbortSignal.timeout(maxWaitMs)]);
    if (!this.isConnected) await untilAborted(this.ready.promise, signal).catch(() => undefined);
    if (!this.session || !this.isConnected || given.aborted)
      throw new SendFailure('retry', 'not connected to WhatsApp');
    return this.session;
  }

  /** The address of a conversation. Only one that wrote before: an account that opens chats is banned. */
  private async jidOf(conversation: string, signal: AbortSignal): Promise<string> {
    const isOne = conversation.length > 0 && conversation.length <= maxConversationChars;
    const jid = isOne ? await untilAborted(this.chats.jidOf(conversation), signal).catch(() => undefined) : null;
    if (jid === undefined) throw new SendFailure('retry', 'the conversation could not be looked up');
    if (jid === null) throw new SendFailure('refused', 'nobody of this conversation has written to the agent');
    return jid;
  }

  private async run(): Promise<void> {
    const { signal } = this.gone;
    await this.persist(() => this.keys.load());
    while (!signal.aborted) {
      if (!this.keys.isPaired) {
        if (!(await this.pairing.nextRound())) return;
        this.keys.begin();
      }
      const code = await this.oneSocket();
      if (this.isConnected) this.ready = Promise.withResolvers<void>();
      this.isConnected = false;
      if (signal.aborted) return;
      if (code === ownCodes.fresh) this.wasSilent = true;
      const outcome = outcomeOf(code);
      if (outcome.next === 'again') await this.persist(() => this.keys.flush());
      else if (!this.keys.isPaired && this.pairing.wasShown) continue;
      else if (outcome.next === 'later') await this.later(outcome.reason);
      else {
        if (outcome.next === 'unlinked') await this.persist(() => this.keys.clear());
        return this.tell({ status: 'error', reason: outcome.reason });
      }
    }
  }

  private async later(reason: ChannelReason): Promise<void> {
    this.tell({ status: 'disconnected', reason });
    await this.backoff.wait(this.gone.signal);
  }

  /** The code of its end. */
  private async oneSocket(): Promise<number> {
    const { signal } = this.gone;
    const free = await this.options.handshakes.enter({ signal });
    try {
      if (signal.aborted) return ownCodes.closed;
      const { url, root, timings } = this.options;
      const session = new Session({
        url,
        root,
        timings,
        keys: this.keys,
        chats: this.chats,
        log: this.host.log,
        onUpdate: (update) => this.update(update, free),
        onBacklog: (messages) => this.backlog(messages),
      });
      this.session = session;
      return await session.ended;
    } finally {
      this.session = null;
      free();
    }
  }

  private update(update: Update, free: () => void): void {
    if (update.qr !== undefined) {
      free();
      this.pairing.show(update.qr);
    }
    if (update.isOpen) {
      free();
      this.backoff.succeeded();
      this.pairing.succeeded();
      this.isConnected = true;
      this.ready.resolve();
      this.tellConnected();
      void this.session?.socket.askRestriction().catch(() => undefined);
    }
    if (update.restrictedUntil !== undefined && update.restrictedUntil?.getTime() !== this.restrictedUntil?.getTime()) {
      this.restrictedUntil = update.restrictedUntil;
      if (this.isConnected) this.tellConnected();
    }
  }

  private tellConnected(): void {
    const me = this.session?.socket.me;
    if (!me) return;
    const number = userOf(me.id);
    const name = me.name && me.name !== '~' ? me.name : `+${number}`;
    const id = numberOf(me.id) === null ? me.id : `${number}@s.whatsapp.net`;
    const until = this.restrictedUntil;
    const note = until && `WhatsApp lets this account open no new chats until ${until.toISOString()}.`;
    this.tell({ status: 'connected', identity: { id, name: name.slice(0, 200) }, ...(note && { note }) });
  }

  private backlog(messages: number): void {
    if (this.wasSilent && messages > 0) this.host.log.warn({ messages }, 'a WhatsApp connection had become deaf');
    this.wasSilent = false;
  }

  /** Nothing may be acknowledged from here on: the socket ends before the library goes on. */
  private commitFailed(error: unknown): void {
    this.chats.forget();
    this.session?.end(ownCodes.commitFailed);
    if (error instanceof LeaseLost) this.gone.abort(error);
  }

  /** Tries until it is done, or the connection is gone. Rejects with `LeaseLost`. */
  private async persist(work: () => Promise<unknown>): Promise<void> {
    const { signal } = this.gone;
    for (;;) {
      try {
        return void (await untilAborted(work(), signal));
      } catch (error) {
        if (error instanceof LeaseLost || signal.aborted) throw error;
        this.host.log.warn({}, 'keys of a WhatsApp connection could not be kept or read');
        await this.backoff.wait(signal);
      }
    }
  }

  private tell(state: ConnectionState): void {
    if (!this.gone.signal.aborted) this.host.changed(state);
  }
}
