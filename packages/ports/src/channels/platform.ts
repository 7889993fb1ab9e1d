/**
 * A messaging platform as the relay sees it: one adapter a platform, which knows its protocol, its limits and its dialect, and
 * nothing of agents, of the database, or of who may write.
 *
 * An adapter owns its connection for ever: it reconnects by itself with backoff and jitter, proves that the platform still
 * delivers where there is a way, and says each change of state. It gives up (`error`) only for what a person must mend.
 */
import type { ChannelIdentity, ChannelName, ChannelReason, ConversationKind, Json } from '@lodge/domain';
import type { Log } from '../log.ts';

export interface Platform {
  readonly channel: ChannelName;
  readonly limits: PlatformLimits;
  /** Whether the platform tells of a message sent before with the same `key`, so that an unclear send may be repeated. */
  readonly sendsOnce: boolean;
  /** How long it knows a `key`, with some margin; left out where it does for ever. A later try would be a second message. */
  readonly sendsOnceForMs?: number;
  /**
   * Asks the platform whether these credentials are good, with as few calls as that takes. Rejects with a `ChannelFailure` whose
   * sentence a person can act on. Null: this platform has nothing to ask (its connection is paired or consented to).
   */
  readonly verify: ((credentials: ChannelSecrets, signal: AbortSignal) => Promise<Verified>) | null;
  /**
   * Its connection says whose account it is (`accountKey` of `connected`) without having taken a message before: until that is
   * written, `received` waits where the account is not known.
   */
  readonly tellsAccount?: boolean;
  /**
   * The answer in the platform's dialect, split at its limits: fences closed and opened again at a cut, no cut within a character,
   * at least one piece of at least one visible character. Pure, and linear in the length of the text.
   */
  render(markdown: string): readonly RenderedText[];
  /** Answers at once; everything else is told by `host`. */
  connect(account: ChannelAccount, host: ConnectionHost): ChannelConnection;
}

/** By name, as `channelCredentials` of domain lists them, and those that the adapter keeps by itself (`host.keep`). In the clear: never logged. */
export type ChannelSecrets = Readonly<Record<string, string>>;

export interface PlatformLimits {
  /** Of one message, in the platform's own count. */
  readonly textChars: number;
  readonly fileInBytes: number;
  readonly fileOutBytes: number;
  /** How often a typing sign must be given anew; null: there is none. */
  readonly typingEveryMs: number | null;
  /** Left out: what was sent cannot be edited and taken away so that nobody minds. */
  readonly progress?: ProgressLimits;
}

export interface ProgressLimits {
  /** One message is edited no more often. */
  readonly editEveryMs: number;
  /** Between two calls of one connection, whichever messages they are for. */
  readonly gapMs: number;
}

export interface Verified {
  readonly identity: ChannelIdentity;
  /** What one connection alone may use, as `<team>/<bot>`: two agents that give the same are in each other's way. */
  readonly accountKey: string;
}

export interface ChannelAccount {
  readonly agentId: string;
  readonly credentials: ChannelSecrets;
  /** Whether messages in groups that address nobody are wanted: some platforms need a permission for them. */
  readonly wantsUnaddressed: boolean;
  /** Where the last connection had got to, as `host.received` or `host.at` was given it; null at the very first. */
  readonly cursor: Json | null;
}

/** What a connection tells and asks. Everything rejects with `LeaseLost` once another relay may have the channel: the connection then ends itself, and acknowledges nothing. */
export interface ConnectionHost {
  /**
   * Commits messages together with the place that the connection has got to. The adapter acknowledges to its platform after this
   * resolves, never before. Messages that came before are known by their id and cost nothing. Rejects when nothing was committed:
   * the adapter tries again with backoff, or lets the platform deliver again. At most 100 at once.
   */
  received(messages: readonly InboundMessage[], cursor?: Json): Promise<void>;
  /**
   * Whether the channel's access lets a message of this sender become a turn now. For platforms whose messages are costly to
   * fetch: what would not pass is committed with `isUnread`, and its body is never fetched.
   */
  admits(message: Pick<InboundMessage, 'conversation' | 'sender' | 'addressed'>): Promise<boolean>;
  /** A place without messages. */
  at(cursor: Json): Promise<void>;
  /** Never rejects, answers at once; the last one counts. */
  changed(state: ConnectionState): void;
  /** Puts secrets beside or in the place of those that the account came with; in effect before it resolves. */
  keep(credentials: ChannelSecrets): Promise<void>;
  /** Keys that the adapter keeps by type and id, sealed at rest and fenced by the lease. */
  readonly vault: Vault;
  readonly log: Log;
}

/** Values in the clear: never logged. Null as a value removes it. */
export interface Vault {
  get(type: string, ids: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** All or nothing; with messages, in the same transaction as `ConnectionHost.received` of these. */
  set(
    values: readonly { readonly type: string; readonly id: string; readonly value: string | null }[],
    messages?: readonly InboundMessage[],
  ): Promise<void>;
  /** Removes everything: a pairing that has ended. */
  clear(): Promise<void>;
}

export type ConnectionState =
  | { readonly status: 'connecting' }
  /** `note`: what cannot be proved, or is restricted, though the channel works. */
  | {
      readonly status: 'connected';
      readonly identity: ChannelIdentity;
      readonly note?: string;
      /** As of `Verified`, where the platform `tellsAccount`. */
      readonly accountKey?: string;
    }
  | { readonly status: 'disconnected'; readonly reason: ChannelReason }
  /** A code to scan or to type, until it expires; `qr` is text. A secret while it lasts: never logged. */
  | {
      readonly status: 'pending_pairing';
      readonly reason: ChannelReason;
      readonly code?: {
        readonly qr: string | null;
        readonly pairingCode: string | null;
        readonly expiresAt: Date;
        readonly attempt: number;
      };
    }
  | { readonly status: 'error'; readonly reason: ChannelReason };

/** A message as the platform tells it. Texts are a stranger's: the adapter has bounded them (`maxInboundChars`, names 200 characters) and removed nothing else. */
export interface InboundMessage {
  /** The same for every delivery of this message, at most 200 characters; unique within the connection. */
  readonly id: string;
  readonly conversation: {
    /** Opaque beyond the adapter, at most 200 characters; a thread of its own where the platform has threads. */
    readonly id: string;
    readonly kind: ConversationKind;
    /** Of a group; null where it has no name. */
    readonly title: string | null;
  };
  readonly sender: { readonly id: string; readonly name: string; readonly isBot: boolean };
  /** Written directly, or by a mention of or a reply to the agent. */
  readonly addressed: boolean;
  /** The agent's own mention at its beginning is left out. */
  readonly text: string;
  readonly sentAt: Date;
  readonly files: readonly InboundFile[];
  /** What an answer must name to be an answer to this one (a message id, mail headers), at most 4 KiB as JSON. */
  readonly replyTo: Json | null;
  /** Text and files were not fetched, because `admits` said no. Such a message never becomes a turn. */
  readonly isUnread?: true;
}

export const maxInboundChars = 64 * 1024;
export const maxInboundFiles = 20;

export interface InboundFile {
  /** What `ChannelConnection.open` needs, at most 2 KiB; no secret is in it. */
  readonly ref: string;
  readonly name: string;
  readonly mediaType: string;
  /** Null where the platform does not say. */
  readonly bytes: number | null;
  readonly kind: 'file' | 'image' | 'voice';
}

export interface RenderedText {
  readonly text: string;
  /** The adapter's own word on how `text` is to be sent; null: as it is. */
  readonly format: string | null;
}

export type OutboundPart =
  | ({ readonly kind: 'text' } & RenderedText)
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly mediaType: string;
      readonly bytes: number;
      open(): AsyncIterable<Uint8Array>;
    };

export interface SendTarget {
  readonly conversationId: string;
  readonly conversationKind: ConversationKind;
  /** Of the last message that is answered; null for what answers nothing. */
  readonly replyTo: Json | null;
  /** Which part of how many this is, from 0. */
  readonly index: number;
  readonly count: number;
  /** Platform's ids of the parts of this answer that were sent before. */
  readonly sentIds: readonly string[];
}

export interface ChannelConnection {
  /**
   * Sends one part. `key` is the same for every try of this part, at most 36 characters. Resolves with the platform's id of what
   * was sent, at most 200 characters. Rejects with a `SendFailure`. Bounded by `signal`.
   */
  send(to: SendTarget, part: OutboundPart, key: string, signal: AbortSignal): Promise<{ readonly id: string }>;
  /** Shows that the agent is at work. Failing is no matter. */
  typing(to: Pick<SendTarget, 'conversationId' | 'replyTo'>, signal: AbortSignal): Promise<void>;
  /** There where the platform's limits have `progress`. */
  readonly progress?: ProgressMessages;
  /** The bytes of a file that came in; ends with an error beyond `maxBytes`. The platform's credentials go to the platform's own hosts alone. */
  open(ref: string, maxBytes: number, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Has a code to pair by a phone number instead of the one to scan; where the platform has it. */
  pairByNumber?(phoneNumber: string): Promise<void>;
  /** Takes nothing more, acknowledges nothing more. Resolves within 5 s, when no other connection of the account would be in the way of this one. */
  close(): Promise<void>;
}

/**
 * A message that shows what a turn does, and goes again. Texts are short and plain: nobody is rung, whatever stands in them.
 * Each rejects with a `SendFailure` and is bounded by `signal`; `refused` means that the message is not ours to change any more.
 */
export interface ProgressMessages {
  post(to: ProgressTarget, text: string, signal: AbortSignal): Promise<{ readonly id: string }>;
  /** The same text as before is success. */
  edit(to: ProgressTarget, id: string, text: string, signal: AbortSignal): Promise<void>;
  /** Absent is success. */
  remove(to: ProgressTarget, id: string, signal: AbortSignal): Promise<void>;
}

export type ProgressTarget = Pick<SendTarget, 'conversationId'>;

/** ChannelSecrets or a connection failed. The sentence is for the channel's owner; no secret is in it. */
export class ChannelFailure extends Error {
  readonly reason: ChannelReason;
  constructor(reason: ChannelReason, cause?: unknown) {
    super(reason.message, { cause });
    this.name = 'ChannelFailure';
    this.reason = reason;
  }
}

/**
 * Why a part was not sent.
 *
 * - `retry`: surely not sent, and may be tried again, not before `retryAfterMs`.
 * - `refused`: surely not sent, and never will be as it is.
 * - `unknown`: it may have been sent.
 */
export class SendFailure extends Error {
  readonly outcome: 'retry' | 'refused' | 'unknown';
  readonly retryAfterMs: number;
  constructor(
    outcome: SendFailure['outcome'],
    message: string,
    options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'SendFailure';
    this.outcome = outcome;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/** Another relay may have the channel now. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of the channel is lost');
    this.name = 'LeaseLost';
  }
}
