/** Channels as their owners see and change them. */
import type {
  ChannelAccess,
  ChannelIdentity,
  ChannelName,
  ChannelReason,
  ChannelStatus,
  ConversationKind,
  MessageState,
} from '@lodge/domain';
import type { ActorNote, ChangeNote } from '../events/change-note.ts';
import type { ChannelAnswer } from './channel-turns.ts';

export interface ChannelRow {
  readonly accountId: string;
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly enabled: boolean;
  readonly access: ChannelAccess;
  readonly credentials: readonly ChannelCredential[];
  /** Rises with each change that requires a new connection. */
  readonly revision: number;
  readonly status: ChannelStatus;
  readonly statusReason: (ChannelReason & { readonly at: Date }) | null;
  /** A limit of the channel that works otherwise: something restricted, or something that cannot be proved. */
  readonly note: string | null;
  readonly identity: ChannelIdentity | null;
  /** Null when no code waits to be scanned or typed. The code is sealed as JSON `{qr, pairingCode}`. */
  readonly pairing: { readonly sealed: string; readonly expiresAt: Date; readonly attempt: number } | null;
  readonly lastInboundAt: Date | null;
  readonly lastOutboundAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ChannelCredential {
  readonly name: string;
  /** See `channelCredentialContext`. */
  readonly sealed: string;
  readonly last4: string;
  readonly createdAt: Date;
}

/** The context bound to a sealed credential of a channel. It does not open in another context. */
export const channelCredentialContext = (agentId: string, channel: string, name: string): string =>
  `channel/${agentId}/${channel}/credential/${name}`;
export const channelVaultContext = (agentId: string, channel: string, type: string, id: string): string =>
  `channel/${agentId}/${channel}/vault/${type}/${id}`;
export const channelPairingContext = (agentId: string, channel: string): string =>
  `channel/${agentId}/${channel}/pairing`;

/**
 * The context that is bound to a sealed PKCE verifier. It does not open in another context. The id alone tells a mailbox
 * from a connection.
 */
export const oauthVerifierContext = (agentId: string, id: string): string =>
  `channel/${agentId}/gmail/oauth-session/${id}`;

export interface ChannelChange extends NewChannel {
  readonly accountId: string;
  readonly agentId: string;
}

/** A channel of an agent that may not be there yet. */
export interface NewChannel {
  readonly channel: ChannelName;
  readonly enabled: boolean;
  readonly access: ChannelAccess;
  /** Replaces the credentials that it names; others stay. */
  readonly credentials: readonly Omit<ChannelCredential, 'createdAt'>[];
  /**
   * The key that only one connection may use, as `Verified.accountKey`. Null when not known yet; undefined leaves it as it
   * was.
   */
  readonly accountKey?: string | null;
}

/** Thrown when another agent's channel has this account key. Nothing was written. */
export class ChannelConflictError extends Error {
  readonly channel: ChannelName;
  constructor(channel: ChannelName) {
    super(`the account of ${channel} is another agent's`);
    this.name = 'ChannelConflictError';
    this.channel = channel;
  }
}

export interface ChannelMessage {
  readonly id: string;
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly conversationId: string;
  readonly conversationKind: ConversationKind;
  readonly senderId: string;
  readonly senderName: string;
  readonly state: MessageState;
  /** The reason of `failed`, `unknown` or `refused`, a sentence of ours. */
  readonly reason: string | null;
  readonly receivedAt: Date;
  /** The time when the last part of the answer was sent. */
  readonly answeredAt: Date | null;
  readonly attempts: number;
  readonly text: string;
  readonly answer: string | null;
}

export interface ChannelStore {
  /**
   * Puts or changes a channel. When it needs another connection, its revision rises and its status becomes `connecting`,
   * `pending_pairing` (WhatsApp and Gmail without a pairing) or `disabled`. A change of access takes effect at once, without
   * a new connection. `conflict` means that another agent's channel has this account key, and `no_agent` that the account
   * has no such agent. Nothing is written with either.
   */
  put(
    change: ChannelChange,
    note?: ChangeNote,
  ): Promise<{ readonly row: ChannelRow; readonly isNew: boolean } | 'conflict' | 'no_agent'>;
  /** Returns messages newest first; `before` is an id of the last page. */
  messages(query: MessageQuery): Promise<readonly ChannelMessage[]>;
  /**
   * Returns a `failed` or `unknown` message to the step where it failed: a new turn, or the unsent part. Null when there is
   * no such message, `not_retryable` when it is in another state.
   */
  retry(
    accountId: string,
    agentId: string,
    messageId: string,
    note?: ActorNote,
  ): Promise<ChannelMessage | 'not_retryable' | null>;
  /**
   * Queues an unasked text into a conversation that wrote before. With `no_conversation` or `not_allowed` nothing is queued:
   * there is no such conversation, the channel is off, or its access admits nobody there.
   */
  say(destination: ChannelDestination, text: string): Promise<'queued' | Unsayable>;
  /**
   * Queues an answer as `say` does, with files, and returns the id of the queued answer. `full` means that `maxQueued`
   * answers of the conversation wait already.
   */
  queue(destination: ChannelDestination, answer: ChannelAnswer): Promise<{ readonly id: string } | Unsayable | 'full'>;
  /** Returns null when the agent may say something there now. */
  whyUnsayable(destination: ChannelDestination): Promise<Unsayable | null>;
  /** Returns those of the agent's `limit` most recently written conversations in which the agent may say something now. */
  sayable(accountId: string, agentId: string, limit: number): Promise<readonly SayableConversation[]>;
  /** Calls back with the agent's id; null means that any agent's channel may have changed. */
  onChange(listener: (agentId: string | null) => void): () => void;
}

export interface MessageQuery {
  readonly accountId: string;
  readonly agentId: string;
  readonly channel?: ChannelName;
  readonly state?: MessageState;
  readonly before?: string;
  readonly limit: number;
}

/** A conversation of an agent, by the platform's id. */
export interface ChannelDestination {
  readonly accountId: string;
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly conversationId: string;
}

/** Most answers that may wait in a conversation when an agent speaks unasked. */
export const maxQueued = 100;

export interface SayableConversation extends Pick<ChannelDestination, 'channel' | 'conversationId'> {
  readonly kind: ConversationKind;
  /** The name that somebody gave a group; null for a conversation without a name. */
  readonly title: string | null;
  readonly lastAt: Date;
}

/**
 * The reason why the agent cannot speak in a conversation: there is none, the channel is off, or its access admits nobody
 * there.
 */
export type Unsayable = 'no_conversation' | 'not_allowed';
