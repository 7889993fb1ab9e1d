/** The store as a relay uses it, for the channels that it holds. The lease's number fences every write. */
import type { ChannelName, ChannelAccess, Choice, ConversationKind, Json } from '@lodge/domain';
import type { ConnectionState, InboundMessage } from './platform.ts';
import type { Press, Pressed } from './presses.ts';

/** A channel that only this relay may connect, until the lease ends by the database's clock. */
export interface Lease {
  readonly agentId: string;
  readonly accountId: string;
  readonly channel: ChannelName;
  /** Rises with each new holder. */
  readonly number: number;
  readonly revision: number;
  readonly access: ChannelAccess;
  /** Sealed credentials by name. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly cursor: Json | null;
  /** Whether the account of the credentials is still unknown. */
  readonly isUnverified: boolean;
}

export type LeaseRef = Pick<Lease, 'agentId' | 'channel' | 'number'>;

export interface RelayStore {
  /** Returns the platforms with an enabled channel. */
  wanted(): Promise<readonly ChannelName[]>;
  /**
   * Takes leases on enabled channels of these platforms that nobody holds, because a holder's lease ended or was released;
   * at most `limit`. In the states `error` and `logged_out` a channel is taken only after its revision has risen.
   */
  acquire(options: {
    readonly relay: string;
    readonly channels: readonly ChannelName[];
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly Lease[]>;
  /**
   * Renews leases and returns those still held, with their present access. A missing one is lost or no longer wanted: the
   * channel was removed, disabled, or has another revision.
   */
  renew(
    leases: readonly LeaseRef[],
    leaseMs: number,
  ): Promise<readonly Pick<Lease, 'agentId' | 'channel' | 'number' | 'access'>[]>;
  /** Releases the channel at once, because its connection has ended. */
  release(lease: LeaseRef): Promise<void>;

  /**
   * Commits the messages with new ids in one transaction. The channel's access decides about each (`decideAccess`): it waits
   * for a turn, is refused, or its sender is asked to pair (once an hour, with a queued notice). The cursor,
   * `last_inbound_at` and events are written with them. Excess messages of one sender are counted and not stored. Throws
   * `LeaseLost`.
   */
  receive(lease: LeaseRef, messages: readonly InboundMessage[], cursor?: Json): Promise<void>;
  /** Whether `receive` would let a message like this become a turn under the present access. Throws `LeaseLost`. */
  admits(lease: LeaseRef, message: Pick<InboundMessage, 'conversation' | 'sender' | 'addressed'>): Promise<boolean>;
  /**
   * Commits the effect of a press, if the channel's access admits its sender, and the message stands in this conversation with
   * this choice. Throws `LeaseLost`.
   */
  press(lease: LeaseRef, press: Press): Promise<Pressed>;
  /** Throws `LeaseLost`. */
  moveTo(lease: LeaseRef, cursor: Json): Promise<void>;
  /**
   * Writes the state, with its event when it changed; `sealedCode` goes with `pending_pairing`. False when the lease is
   * lost. `conflict` means that another agent's channel has this account; the state is then `error`.
   */
  changed(
    lease: LeaseRef,
    state: ConnectionState,
    sealedCode: string | null,
    accountKey?: string,
  ): Promise<boolean | 'conflict'>;
  /**
   * Records that the connection failed by its own fault. The state is `disconnected` with the reason, and nobody takes the
   * channel during a wait that grows each time. Release the lease afterwards.
   */
  faulted(lease: LeaseRef): Promise<void>;
  /** Stores sealed credentials by name, beside or in place of others. Throws `LeaseLost`. */
  keep(lease: LeaseRef, sealed: Readonly<Record<string, string>>): Promise<void>;

  vaultGet(lease: LeaseRef, type: string, ids: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** Sets sealed values. `messages` are received in the same transaction, as by `receive`. Throws `LeaseLost`. */
  vaultSet(
    lease: LeaseRef,
    values: readonly { readonly type: string; readonly id: string; readonly sealed: string | null }[],
    messages?: readonly InboundMessage[],
  ): Promise<void>;
  vaultClear(lease: LeaseRef): Promise<void>;

  /**
   * Returns files of waiting messages, for the held channels. The first file of each agent comes before the second of any.
   * One agent has at most `perAgent`, including those in `underWay`, which lists an agent once for each file.
   */
  filesToFetch(
    leases: readonly LeaseRef[],
    limit: number,
    share?: { readonly perAgent: number; readonly underWay: readonly string[] },
  ): Promise<readonly FileToFetch[]>;
  fetched(
    lease: LeaseRef,
    id: string,
    result: { readonly key: string; readonly bytes: number } | { readonly reason: string },
  ): Promise<void>;

  /**
   * Returns the first unsent part that is due of each conversation of these channels. A conversation sends nothing before
   * its earlier queued parts have ended. A part that is `sending` from an earlier holder is marked `unclear`.
   */
  partsToSend(leases: readonly LeaseRef[], limit: number): Promise<readonly PartToSend[]>;
  /**
   * Replaces an answer's `markdown` with its rendered parts, at most `maxAnswerParts`. The first part keeps the id of the
   * replaced one.
   */
  split(
    lease: LeaseRef,
    partId: string,
    parts: readonly { readonly text: string; readonly format: string | null }[],
  ): Promise<void>;
  /**
   * Marks a part before the platform is asked. A crash after this leaves the part unclear. False when this relay may not
   * send it any more.
   */
  sending(lease: LeaseRef, partId: string): Promise<boolean>;
  /**
   * Records a sent part and returns the key of its file, whose bytes nobody needs any more. With the last part of an answer
   * its messages are answered, with their event.
   */
  sent(lease: LeaseRef, partId: string, platformId: string): Promise<string | null>;
  /** Makes the part due again at `at`. `isUnclear` says that this try may have been sent. */
  sendLater(lease: LeaseRef, partId: string, at: Date, reason: string, isUnclear?: boolean): Promise<void>;
  /** Ends a part and the rest of its answer as `failed` or `unknown`, with a sentence. */
  sendFailed(lease: LeaseRef, partId: string, outcome: 'failed' | 'unknown', reason: string): Promise<void>;

  /** Returns conversations of these channels that have a turn in progress. */
  working(leases: readonly LeaseRef[]): Promise<readonly Working[]>;
  /** Ends answers that have waited too long, or are too many, as `failed`; their owner may retry them. */
  failUnsent(): Promise<void>;
  /** Returns direct conversations of these channels with a turn in progress, and every conversation that shows progress. */
  progress(leases: readonly LeaseRef[]): Promise<readonly ShownProgress[]>;
  /** Records the message posted for a claim. False when the lease is lost, or another message is recorded already. */
  posted(
    lease: LeaseRef,
    conversationId: string,
    posted: { readonly id: string; readonly claim: number },
  ): Promise<boolean>;
  /** Records that the posted message is gone. */
  unposted(lease: LeaseRef, conversationId: string, id: string): Promise<void>;
  /** Returns those of these file keys that nobody needs: no turn, no unsent part, and no manual retry. At most 1,000. */
  unneededFiles(keys: readonly string[]): Promise<readonly string[]>;
  /** Deletes rows over the bounds of age and number, in short steps. Waiting rows are kept. */
  prune(): Promise<void>;
  /**
   * Calls back when there may be work: `channel` means to connect or to let go, `work` to send or to fetch. A null `agentId`
   * means any agent.
   */
  onWork(listener: (what: { readonly agentId: string | null; readonly of: 'channel' | 'work' }) => void): () => void;
}

export interface FileToFetch extends LeaseRef {
  readonly id: string;
  readonly ref: string;
  readonly attempts: number;
}

/** Most parts of one answer's text. The rest is not sent. */
export const maxAnswerParts = 100;

export interface PartToSend extends LeaseRef {
  readonly id: string;
  /** The same for every try, at most 36 characters. */
  readonly key: string;
  /** The platform's id. */
  readonly conversationId: string;
  readonly conversationKind: ConversationKind;
  readonly replyTo: Json | null;
  readonly index: number;
  readonly count: number;
  readonly sentIds: readonly string[];
  readonly content:
    | {
        readonly kind: 'text';
        readonly text: string;
        readonly format: string | null;
        /** The choices of the answer, with its last text. */
        readonly choices: readonly Choice[] | null;
      }
    /** Replaces a sent message with choices; null: that one was not sent. */
    | { readonly kind: 'edit'; readonly markdown: string; readonly messageId: string | null }
    /** A whole answer that is not yet split into parts. */
    | { readonly kind: 'markdown'; readonly markdown: string }
    | {
        readonly kind: 'file';
        readonly name: string;
        readonly mediaType: string;
        readonly bytes: number;
        readonly key: string;
      };
  readonly attempts: number;
  /** Whether an earlier holder of the channel may have sent it. */
  readonly unclear: boolean;
  /** Milliseconds since the first try whose outcome is unknown; null when every try surely failed. */
  readonly unclearForMs: number | null;
}

/** The progress that a conversation shows, and the progress that it could show. */
export interface ShownProgress extends LeaseRef {
  readonly conversationId: string;
  /** The claim of the turn in progress; null when there is none. */
  readonly claim: number | null;
  /** The end of the agent's text in this turn so far. */
  readonly said: string;
  /** The message that shows progress, by the platform's id, and its claim. */
  readonly posted: { readonly id: string; readonly claim: number } | null;
  /** Whether a part waits to be sent into the conversation. */
  readonly isAnswering: boolean;
  /** Whether a part of any conversation of the channel waits to be sent. */
  readonly isSending: boolean;
}

export interface Working extends LeaseRef {
  readonly conversationId: string;
  readonly replyTo: Json | null;
}
