/** One socket of a linked device, from its handshake to its end. */
import type { InboundMessage, Log } from '@lodge/ports';
import type { Chats } from './chats.ts';
import type { DeviceKeys, Staged } from './device/keys.ts';
import { envelopeOf, openSocket, ownCodes } from './device/library.ts';
import type { Envelope, Repository, Socket, Stanza, Update } from './device/library.ts';
import { Refs } from './media/refs.ts';
import { conversationOf, inboundOf, numberOf } from './message.ts';
import { Ratchet } from './device/ratchet.ts';
import type { Decrypted } from './device/ratchet.ts';
import { Sender } from './sender.ts';
import type { WhatsAppTimings } from './timings.ts';

export interface SessionOptions {
  readonly url: URL;
  readonly root: Uint8Array;
  readonly timings: WhatsAppTimings;
  readonly keys: DeviceKeys;
  readonly chats: Chats;
  readonly log: Log;
  onUpdate(update: Update): void;
  /** How many messages the server had kept back until this socket was open. */
  onBacklog(messages: number): void;
}

const whileBusyMs = 1_000;

export class Session {
  readonly sender: Sender;
  readonly socket: Socket;
  /** The code of its end. */
  readonly ended: Promise<number>;
  private readonly options: SessionOptions;
  private readonly ratchet: Ratchet;
  private readonly opening: NodeJS.Timeout;
  private silence: NodeJS.Timeout;

  constructor(options: SessionOptions) {
    this.options = options;
    const { keys, timings, url, root } = options;
    const ended = Promise.withResolvers<number>();
    this.ended = ended.promise;
    this.opening = setTimeout(() => this.end(ownCodes.timeout), timings.openWithinMs);
    this.silence = setTimeout(() => this.silent(), timings.freshAfterMs);
    this.sender = new Sender(keys, () => this.socket);
    this.ratchet = new Ratchet({
      keys,
      read: (decrypted, repository) => this.read(decrypted, repository),
      onEncrypt: () => this.sender.encrypts(),
      keyOwnerOf: (stanza) => this.envelopeOf(stanza).keyOwner,
    });
    this.socket = openSocket({
      url,
      root,
      credentials: keys.credentials,
      keys: keys.signalKeys,
      connectTimeoutMs: timings.connectTimeoutMs,
      pingEveryMs: timings.pingEveryMs,
      queryTimeoutMs: timings.queryTimeoutMs,
      codeShownMs: timings.codeShownMs,
      guard: (inner, transactions) => this.ratchet.guard(inner, transactions),
      sentBefore: (id) => this.sender.sentBefore(id),
      onStanza: (stanza) => this.see(stanza),
      onCredentials: () => keys.credentialsChanged(),
      onUpdate: (update) => {
        if (update.qr !== undefined || update.isOpen) clearTimeout(this.opening);
        // A code waits for a person for as long as it is shown.
        if (update.qr !== undefined) clearTimeout(this.silence);
        if (update.closed !== undefined) {
          this.stop();
          ended.resolve(update.closed);
        }
        options.onUpdate(update);
      },
    });
  }

  /** Nothing more is sent or acknowledged from the next statement on. */
  end(code: number): void {
    this.stop();
    this.socket.end(code);
  }

  /** Nothing was heard for long: another socket is to look. Not while something is being sent. */
  private silent(): void {
    if (!this.sender.isBusy) return this.end(ownCodes.fresh);
    this.silence = setTimeout(() => this.silent(), whileBusyMs);
  }

  private stop(): void {
    clearTimeout(this.opening);
    clearTimeout(this.silence);
    this.ratchet.end();
    this.sender.end();
  }

  private see(stanza: Stanza): void {
    this.ratchet.see(stanza);
    this.sender.see(stanza);
    if (stanza.tag === 'message') this.silence.refresh();
    if (stanza.tag === 'ib' && Array.isArray(stanza.content)) {
      const offline = stanza.content.find(({ tag }) => tag === 'offline');
      if (offline) this.options.onBacklog(Number(offline.attrs['count'] ?? 0));
    }
  }

  /** The data of a decrypted message for the relay, with the row that says that its conversation wrote. */
  private async read(
    { stanza, content }: Decrypted,
    repository: Repository,
  ): Promise<{ messages: readonly InboundMessage[]; rows: Staged['rows'] }> {
    const nothing = { messages: [], rows: [] };
    try {
      const { me } = this.socket;
      const envelope = this.envelopeOf(stanza);
      if (!me || envelope.fromMe || this.isOld(envelope)) return nothing;
      const number = await numberBehind(envelope, repository);
      const title = envelope.isGroup
        ? this.options.chats.titleOf(envelope.chat, () => this.socket.groupTitle(envelope.chat))
        : null;
      const refs = new Refs(this.options.keys.secret);
      const message = inboundOf(content, { envelope, number, title, me, refs });
      if (!message) return nothing;
      const rows = this.options.chats.rowsOf(conversationOf(envelope, number), envelope.chat);
      return { messages: [message], rows };
    } catch {
      this.options.log.warn({}, 'a message of WhatsApp could not be understood');
      return nothing;
    }
  }

  private isOld({ sentAt }: Envelope): boolean {
    return Date.now() - sentAt.getTime() > this.options.timings.maxAgeMs;
  }

  private envelopeOf(stanza: Stanza): Envelope {
    return envelopeOf(stanza, this.socket.me ?? { id: '', lid: null, name: null });
  }
}

/** The author's phone number, from what the stanza says or from what is known of its lid. */
async function numberBehind({ author, authorAlt }: Envelope, repository: Repository): Promise<string | null> {
  const said = numberOf(author) ?? numberOf(authorAlt);
  if (said !== null || !author.endsWith('@lid')) return said;
  return numberOf(await repository.lidMapping.getPNForLID(author));
}
