/**
 * A messaging platform as the relay sees it. Each platform has one adapter. It knows the platform's protocol, limits and
 * dialect, and nothing of agents, the database or access.
 *
 * An adapter keeps its connection for ever. It reconnects by itself with backoff and jitter, proves where it can that the
 * platform still delivers, and reports each change of state. It gives up (`error`) only when a person must act.
 */
import type { ChannelIdentity, ChannelName, ChannelReason, Choice, ConversationKind, Json } from '@lodge/domain';
import { NamedError } from '@lodge/domain';
import type { Log } from '../log.ts';
import type { Press, Pressed } from './presses.ts';

export interface Platform {
  readonly channel: ChannelName;
  readonly limits: PlatformLimits;
  /** Whether the platform recognises a repeated message by its `key`, so that an unclear send may be repeated. */
  readonly sendsOnce: boolean;
  /**
   * How long the platform remembers a `key`, with some margin; left out when for ever. A later try would send a second
   * message.
   */
  readonly sendsOnceForMs?: number;
  /**
   * Asks the platform whether these credentials are good, with as few calls as possible. Rejects with a `ChannelFailure`
   * whose sentence a person can act on. Null when the platform has nothing to ask, because its connection is paired or
   * consented to.
   */
  readonly verify: ((credentials: ChannelSecrets, signal: AbortSignal) => Promise<Verified>) | null;
  /**
   * Whether the connection reports its account (`accountKey` of `connected`) before it has received a message. Until that is
   * written, `received` waits while the account is unknown.
   */
  readonly tellsAccount?: boolean;
  /**
   * Renders the answer in the platform's dialect, split at its limits. Fences are closed and reopened at a cut, no cut is
   * within a character, and there is at least one piece of at least one visible character. Pure, and linear in the length of
   * the text.
   */
  render(markdown: string): readonly RenderedText[];
  /** Returns at once; everything else is reported to `host`. */
  connect(account: ChannelAccount, host: ConnectionHost): ChannelConnection;
}

/**
 * Secrets by name: those that `channelCredentials` of domain lists, and those that the adapter stores itself (`host.keep`).
 * They are in the clear and never logged.
 */
export type ChannelSecrets = Readonly<Record<string, string>>;

export interface PlatformLimits {
  /** Longest message, in the platform's own count. */
  readonly textChars: number;
  readonly fileInBytes: number;
  readonly fileOutBytes: number;
  /** Interval in ms at which a typing sign must be repeated; null when there is none. */
  readonly typingEveryMs: number | null;
  /** Left out when a sent message cannot be edited and removed unobtrusively. */
  readonly progress?: ProgressLimits;
}

export interface ProgressLimits {
  /** Shortest time between two edits of one message. */
  readonly editEveryMs: number;
  /** Shortest time between two calls of one connection, for any message. */
  readonly gapMs: number;
}

export interface Verified {
  readonly identity: ChannelIdentity;
  /** The key that only one connection may use, as `<team>/<bot>`. Two agents with the same key would disturb each other. */
  readonly accountKey: string;
}

export interface ChannelAccount {
  readonly agentId: string;
  readonly credentials: ChannelSecrets;
  /** Whether messages in groups that address nobody are wanted; some platforms require a permission for them. */
  readonly wantsUnaddressed: boolean;
  /** The last connection's position, as it was given to `host.received` or `host.at`; null at the very first. */
  readonly cursor: Json | null;
}

/**
 * The relay as a connection sees it. Every call rejects with `LeaseLost` once another relay may have the channel. The
 * connection then ends itself and acknowledges nothing.
 */
export interface ConnectionHost {
  /**
   * Commits messages together with the connection's position. The adapter acknowledges to its platform only after this
   * resolves. Repeated messages are recognised by their id and cost nothing. Rejects when nothing was committed; the adapter
   * then tries again with backoff, or lets the platform deliver again. At most 100 messages at once.
   */
  received(messages: readonly InboundMessage[], cursor?: Json): Promise<void>;
  /**
   * Whether the channel's access lets a message of this sender become a turn now. It serves platforms whose messages are
   * costly to fetch: a message that would not pass is committed with `isUnread`, and its body is never fetched.
   */
  admits(message: Pick<InboundMessage, 'conversation' | 'sender' | 'addressed'>): Promise<boolean>;
  /**
   * Commits a press, and returns what to tell the person. The adapter answers its platform only after this resolves. A repeated
   * press changes nothing. Rejects when nothing was committed.
   */
  pressed(press: Press): Promise<Pressed>;
  /** Commits a position without messages. */
  at(cursor: Json): Promise<void>;
  /** Reports a state. Never rejects, returns at once, and the last report counts. */
  changed(state: ConnectionState): void;
  /** Stores secrets beside or in place of those that the account came with. They are in effect before it resolves. */
  keep(credentials: ChannelSecrets): Promise<void>;
  /** Keys that the adapter stores by type and id, sealed at rest and fenced by the lease. */
  readonly vault: Vault;
  readonly log: Log;
}

/** Values are in the clear and never logged. Null as a value removes it. */
export interface Vault {
  get(type: string, ids: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** Sets all values or none. Messages are committed in the same transaction, as by `ConnectionHost.received`. */
  set(
    values: readonly { readonly type: string; readonly id: string; readonly value: string | null }[],
    messages?: readonly InboundMessage[],
  ): Promise<void>;
  /** Removes everything, after a pairing has ended. */
  clear(): Promise<void>;
}

export type ConnectionState =
  | { readonly status: 'connecting' }
  /** `note` names a limit of a channel that works otherwise. */
  | {
      readonly status: 'connected';
      readonly identity: ChannelIdentity;
      readonly note?: string;
      /** As `Verified.accountKey`, when the platform `tellsAccount`. */
      readonly accountKey?: string;
    }
  | { readonly status: 'disconnected'; readonly reason: ChannelReason }
  /** A code to scan or to type before it expires; `qr` is text. It is secret while it is valid and never logged. */
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

/**
 * A message as the platform reports it. Its texts are a stranger's. The adapter has bounded them (`maxInboundChars`, names
 * 200 characters) and removed nothing else.
 */
export interface InboundMessage {
  /** The message's id, the same for every delivery and unique within the connection; at most 200 characters. */
  readonly id: string;
  readonly conversation: {
    /** Opaque beyond the adapter, at most 200 characters. It names a thread when the platform has threads. */
    readonly id: string;
    readonly kind: ConversationKind;
    /** The group's name; null when it has none. */
    readonly title: string | null;
  };
  readonly sender: { readonly id: string; readonly name: string; readonly isBot: boolean };
  /** Whether it was written directly, or mentions or replies to the agent. */
  readonly addressed: boolean;
  /** The text without the agent's own mention at its beginning. */
  readonly text: string;
  readonly sentAt: Date;
  readonly files: readonly InboundFile[];
  /** The reference that an answer must carry (a message id, mail headers), at most 4 KiB as JSON. */
  readonly replyTo: Json | null;
  /** Set when text and files were not fetched, because `admits` refused. Such a message never becomes a turn. */
  readonly isUnread?: true;
}

export const maxInboundChars = 64 * 1024;
export const maxInboundFiles = 20;

export interface InboundFile {
  /** The reference that `ChannelConnection.open` needs, at most 2 KiB, without a secret. */
  readonly ref: string;
  readonly name: string;
  readonly mediaType: string;
  /** Null when the platform does not say. */
  readonly bytes: number | null;
  readonly kind: 'file' | 'image' | 'voice';
}

export interface RenderedText {
  readonly text: string;
  /** The adapter's own mark of how to send `text`; null for plain sending. */
  readonly format: string | null;
}

export type OutboundPart =
  /** `choices` are pressed below the text; an adapter without buttons leaves them out. */
  | ({ readonly kind: 'text'; readonly choices?: readonly Choice[] } & RenderedText)
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
  /** The reference of the last message that is answered; null when the part answers nothing. */
  readonly replyTo: Json | null;
  /** The number of this part, from 0, of `count`. */
  readonly index: number;
  readonly count: number;
  /** The platform's ids of the parts of this answer that were sent before. */
  readonly sentIds: readonly string[];
}

export interface ChannelConnection {
  /**
   * Sends one part. `key` is the same for every try of this part, at most 36 characters. Resolves with the platform's id of
   * the sent part, at most 200 characters. Rejects with a `SendFailure`. Bounded by `signal`.
   */
  send(to: SendTarget, part: OutboundPart, key: string, signal: AbortSignal): Promise<{ readonly id: string }>;
  /** Shows that the agent is at work. A failure does not matter. */
  typing(to: Pick<SendTarget, 'conversationId' | 'replyTo'>, signal: AbortSignal): Promise<void>;
  /**
   * Replaces a message with choices by a text without any. Repeating it is a success, as is a message that is gone. Rejects with
   * a `SendFailure`. Present when the platform has buttons.
   */
  closeChoices?(to: SendTarget, id: string, text: RenderedText, signal: AbortSignal): Promise<void>;
  /** Present when the platform's limits have `progress`. */
  readonly progress?: ProgressMessages;
  /**
   * Returns the bytes of a received file; ends with an error beyond `maxBytes`. The platform's credentials go only to the
   * platform's own hosts.
   */
  open(ref: string, maxBytes: number, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Requests a code to pair by a phone number instead of the scanned code, when the platform offers it. */
  pairByNumber?(phoneNumber: string): Promise<void>;
  /**
   * Stops taking and acknowledging messages. Resolves within 5 s, when no connection of this account is left that would
   * disturb a new one.
   */
  close(): Promise<void>;
}

/**
 * A temporary message that shows the progress of a turn. Texts are short and plain, and notify nobody. Each call rejects
 * with a `SendFailure` and is bounded by `signal`. `refused` means that the message can no longer be changed.
 */
export interface ProgressMessages {
  post(to: ProgressTarget, text: string, signal: AbortSignal): Promise<{ readonly id: string }>;
  /** Editing to the same text is a success. */
  edit(to: ProgressTarget, id: string, text: string, signal: AbortSignal): Promise<void>;
  /** Removing an absent message is a success. */
  remove(to: ProgressTarget, id: string, signal: AbortSignal): Promise<void>;
}

export type ProgressTarget = Pick<SendTarget, 'conversationId'>;

/** Thrown when credentials or a connection failed. The sentence is for the channel's owner and contains no secret. */
export class ChannelFailure extends NamedError {
  readonly reason: ChannelReason;
  constructor(reason: ChannelReason, cause?: unknown) {
    super(reason.message, { cause });
    this.reason = reason;
  }
}

/**
 * The reason why a part was not sent.
 *
 * - `retry`: surely not sent, and may be tried again after `retryAfterMs`.
 * - `refused`: surely not sent, and never will be as it is.
 * - `unknown`: possibly sent.
 */
export class SendFailure extends NamedError {
  readonly outcome: 'retry' | 'refused' | 'unknown';
  readonly retryAfterMs: number;
  constructor(
    outcome: SendFailure['outcome'],
    message: string,
    options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.outcome = outcome;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/** Thrown when another relay may have the channel. */
export class LeaseLost extends NamedError {
  constructor() {
    super('the lease of the channel is lost');
  }
}

/** Asks platforms on behalf of the person who puts a channel. */
export interface ChannelCheck {
  /**
   * Checks credentials. Rejects with a `ChannelFailure` when the platform refuses or cannot be reached. Null means that
   * there is nothing to ask.
   */
  verify(channel: ChannelName, credentials: ChannelSecrets, signal: AbortSignal): Promise<Verified | null>;
  /** Asks a channel's connection for a code to pair by a phone number. False when this channel has no connection here. */
  pairByNumber(agentId: string, channel: ChannelName, phoneNumber: string): Promise<boolean>;
}
