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
  /** Rises with each change that wants the connection opened anew. */
  readonly revision: number;
  readonly status: ChannelStatus;
  readonly statusReason: (ChannelReason & { readonly at: Date }) | null;
  /** What cannot be proved, or is restricted, though the channel works. */
  readonly note: string | null;
  readonly identity: ChannelIdentity | null;
  /** Null where no code waits to be scanned or typed. Sealed as JSON `{qr, pairingCode}`. */
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

/** What is bound to a sealed credential of a channel: in another place it does not open. */
export const channelCredentialContext = (agentId: string, channel: string, name: string): string =>
  `channel/${agentId}/${channel}/credential/${name}`;
export const channelVaultContext = (agentId: string, channel: string, type: string, id: string): string =>
  `channel/${agentId}/${channel}/vault/${type}/${id}`;
export const channelPairingContext = (agentId: string, channel: string): string =>
  `channel/${agentId}/${channel}/pairing`;

export interface ChannelChange extends NewChannel {
  readonly accountId: string;
  readonly agentId: string;
}

/** A channel of an agent that may not be there yet. */
export interface NewChannel {
  readonly channel: ChannelName;
  readonly enabled: boolean;
  readonly access: ChannelAccess;
  /** Replaces those that it names; others stay. */
  readonly credentials: readonly Omit<ChannelCredential, 'createdAt'>[];
  /** What only one connection may use, as `Verified.accountKey`; null where it is not known yet. Undefined: as it was. */
  readonly accountKey?: string | null;
}

/** Another agent's channel has this account key, and nothing was written. */
export class ChannelConflictError extends Error {
  readonly channel: ChannelName;
  constructor(channel: ChannelName) {
    super(`the account of ${channel} is another agent's`);
    this.name = 'ChannelConflictError';
    this.channel = channel;
  }
}

/** Somebody who asked to talk to the agent, or whom its owner decided about. Names are the sender's own text. */
export interface ChannelSender {
  readonly channel: ChannelName;
  readonly senderId: string;
  readonly name: string;
  readonly state: 'pending' | 'approved' | 'denied';
  /** What the sender was told; null once decided. */
  readonly code: string | null;
  readonly askedAt: Date;
  readonly decidedAt: Date | null;
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
  /** Why it is `failed`, `unknown` or `refused`: a sentence of ours. */
  readonly reason: string | null;
  readonly receivedAt: Date;
  /** When the last part of the answer was sent. */
  readonly answeredAt: Date | null;
  readonly attempts: number;
  readonly text: string;
  readonly answer: string | null;
}

export interface ChannelStore {
  ofAgent(accountId: string, agentId: string): Promise<readonly ChannelRow[]>;
  find(accountId: string, agentId: string, channel: ChannelName): Promise<ChannelRow | null>;
  /**
   * Puts or changes a channel. Where its connection is to be another one, its revision rises and its status becomes `connecting`, `pending_pairing` (WhatsApp and Gmail without
   * a pairing) or `disabled`; who may write holds at once, and needs none. `conflict`: another agent's channel has this account key. `no_agent`: the account has no such agent.
   * Nothing is written with either.
   */
  put(
    change: ChannelChange,
    note?: ChangeNote,
  ): Promise<{ readonly row: ChannelRow; readonly isNew: boolean } | 'conflict' | 'no_agent'>;
  /** Removes it with everything: credentials, senders, conversations, messages, keys. False when there was none. */
  remove(accountId: string, agentId: string, channel: ChannelName, note?: ChangeNote): Promise<boolean>;
  /** Wants the connection opened anew; false when there is none. */
  restart(accountId: string, agentId: string, channel: ChannelName, note?: ChangeNote): Promise<ChannelRow | null>;
  senders(
    accountId: string,
    agentId: string,
    channel: ChannelName,
    state?: ChannelSender['state'],
  ): Promise<readonly ChannelSender[]>;
  /** By the code that the sender was told. Null: no such code waits. */
  decide(
    decision: {
      readonly accountId: string;
      readonly agentId: string;
      readonly channel: ChannelName;
      readonly code: string;
      readonly approve: boolean;
    },
    note?: ActorNote,
  ): Promise<ChannelSender | null>;
  /** Who was decided about by this code. Null: nobody was. */
  decided(accountId: string, agentId: string, channel: ChannelName, code: string): Promise<ChannelSender | null>;
  /** Newest first; `before` is an id of the last page. */
  messages(query: MessageQuery): Promise<readonly ChannelMessage[]>;
  /**
   * A `failed` or `unknown` message goes back to where it failed: the turn anew, or the part that was not sent. Null: no such
   * message. `not_retryable`: it is in another state.
   */
  retry(
    accountId: string,
    agentId: string,
    messageId: string,
    note?: ActorNote,
  ): Promise<ChannelMessage | 'not_retryable' | null>;
  /**
   * Queues a text into a conversation that wrote before: nobody there asked for it. `no_conversation`, `not_allowed`: nothing is
   * queued, for there is none, or the channel is off, or its access lets in nobody who is there.
   */
  say(destination: ChannelDestination, text: string): Promise<'queued' | Unsayable>;
  /** As `say`, with files; gives the id of what is queued. `full`: `maxQueued` answers of the conversation wait already. */
  queue(destination: ChannelDestination, answer: ChannelAnswer): Promise<{ readonly id: string } | Unsayable | 'full'>;
  /** Null: something may be said there now. */
  whyUnsayable(destination: ChannelDestination): Promise<Unsayable | null>;
  /** Of the agent's `limit` conversations in which something was last written, those in which something may be said now. */
  sayable(accountId: string, agentId: string, limit: number): Promise<readonly SayableConversation[]>;
  /** Calls back when a channel of an agent changed, by the agent's id; null: any may have. */
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

/** Answers that may wait in a conversation when an agent says something unasked. */
export const maxQueued = 100;

export interface SayableConversation extends Pick<ChannelDestination, 'channel' | 'conversationId'> {
  readonly kind: ConversationKind;
  /** Of a group, as somebody there named it; null where it has no name. */
  readonly title: string | null;
  readonly lastAt: Date;
}

/** Why nothing can be said in a conversation: it is not there, or the channel is off or its access lets nobody of it in. */
export type Unsayable = 'no_conversation' | 'not_allowed';
