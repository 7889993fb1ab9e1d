/** What a relay reads and writes of the channels that it holds. Everything it writes is fenced by the lease's number. */
import type { ChannelName, ChannelAccess, ConversationKind, Json } from '@lodge/domain';
import type { ConnectionState, InboundMessage } from './platform.ts';

/** A channel that this relay alone may connect, until the lease ends by the database's clock. */
export interface Lease {
  readonly agentId: string;
  readonly accountId: string;
  readonly channel: ChannelName;
  /** Rises with each new holder. */
  readonly number: number;
  readonly revision: number;
  readonly access: ChannelAccess;
  /** By name, sealed. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly cursor: Json | null;
  /** Nobody knows yet whose the credentials are. */
  readonly isUnverified: boolean;
}

export type LeaseRef = Pick<Lease, 'agentId' | 'channel' | 'number'>;

export interface RelayStore {
  /** Platforms of which there is a channel that is enabled. */
  wanted(): Promise<readonly ChannelName[]>;
  /**
   * Takes leases on enabled channels of these platforms that nobody holds (a holder's time is over, or it gave up), at most
   * `limit`. In the states `error` and `logged_out` a channel is taken only after its revision has risen.
   */
  acquire(options: {
    readonly relay: string;
    readonly channels: readonly ChannelName[];
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly Lease[]>;
  /**
   * Those that hold on, with what is wanted of them now. One that is missing is lost, or not wanted any more: the channel was
   * removed, disabled, or has another revision.
   */
  renew(
    leases: readonly LeaseRef[],
    leaseMs: number,
  ): Promise<readonly Pick<Lease, 'agentId' | 'channel' | 'number' | 'access'>[]>;
  /** Gives the channel up at once: its connection has ended. */
  release(lease: LeaseRef): Promise<void>;

  /**
   * In one transaction: what is new of these messages by their ids, each as the channel's access decides (`decideAccess`):
   * waiting for a turn, refused, or its sender asked to pair (once an hour, its notice queued); the cursor; `last_inbound_at`;
   * events. Messages of one sender beyond what is useful are counted and not kept. Throws `LeaseLost`.
   */
  receive(lease: LeaseRef, messages: readonly InboundMessage[], cursor?: Json): Promise<void>;
  /** Whether `receive` would let a message like this become a turn, as access stands now. Throws `LeaseLost`. */
  admits(lease: LeaseRef, message: Pick<InboundMessage, 'conversation' | 'sender' | 'addressed'>): Promise<boolean>;
  /** Throws `LeaseLost`. */
  moveTo(lease: LeaseRef, cursor: Json): Promise<void>;
  /** Writes the state with its event when it is another than before; `sealedCode` goes with `pending_pairing`. False: the lease is lost. `conflict`: another agent's channel is this account; then the state is `error`. */
  changed(
    lease: LeaseRef,
    state: ConnectionState,
    sealedCode: string | null,
    accountKey?: string,
  ): Promise<boolean | 'conflict'>;
  /**
   * The connection failed by a fault of its own: `disconnected` with the reason, and nobody takes the channel before a wait is
   * over that grows with each time. Give the lease up afterwards.
   */
  faulted(lease: LeaseRef): Promise<void>;
  /** Sealed credentials by name, beside or in the place of others. Throws `LeaseLost`. */
  keep(lease: LeaseRef, sealed: Readonly<Record<string, string>>): Promise<void>;

  vaultGet(lease: LeaseRef, type: string, ids: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** With `messages`, as `receive` in the same transaction. Throws `LeaseLost`. */
  vaultSet(
    lease: LeaseRef,
    values: readonly { readonly type: string; readonly id: string; readonly sealed: string | null }[],
    messages?: readonly InboundMessage[],
  ): Promise<void>;
  vaultClear(lease: LeaseRef): Promise<void>;

  /**
   * Files of messages that wait for them, by the channels that are held: the first of each agent before the second of any, and
   * at most `perAgent` of one, those in `underWay` (agents, once for each file) included.
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
   * The first unsent part of each conversation of these channels that is due; in a conversation nothing is sent before what was
   * queued earlier has ended. A part that is `sending` from an earlier holder is given as `unclear`.
   */
  partsToSend(leases: readonly LeaseRef[], limit: number): Promise<readonly PartToSend[]>;
  /** Puts the rendered parts of an answer in the place of its `markdown`; the first has the id of the one that it replaces. At most `maxAnswerParts`. */
  split(
    lease: LeaseRef,
    partId: string,
    parts: readonly { readonly text: string; readonly format: string | null }[],
  ): Promise<void>;
  /** Before the platform is asked: from here on a crash leaves it unclear. False: it is not ours to send any more. */
  sending(lease: LeaseRef, partId: string): Promise<boolean>;
  /**
   * With the last part of an answer its messages are answered, with their event. Gives the key of the file that the part was:
   * nobody needs its bytes any more.
   */
  sent(lease: LeaseRef, partId: string, platformId: string): Promise<string | null>;
  /** Due again at `at`. `isUnclear`: this try may have been sent. */
  sendLater(lease: LeaseRef, partId: string, at: Date, reason: string, isUnclear?: boolean): Promise<void>;
  /** It, and what follows of its answer, is over: `failed` or `unknown`, with a sentence. */
  sendFailed(lease: LeaseRef, partId: string, outcome: 'failed' | 'unknown', reason: string): Promise<void>;

  /** Conversations of these channels that have a turn under way. */
  working(leases: readonly LeaseRef[]): Promise<readonly Working[]>;
  /** Ends answers that have waited too long to be sent, or are too many: `failed`, for their owner to retry. */
  failUnsent(): Promise<void>;
  /** Direct conversations of these channels that have a turn under way, and any in which progress is shown. */
  progress(leases: readonly LeaseRef[]): Promise<readonly ShownProgress[]>;
  /** Keeps what was posted for a claim. False: the lease is lost, or another stands there already. */
  posted(
    lease: LeaseRef,
    conversationId: string,
    posted: { readonly id: string; readonly claim: number },
  ): Promise<boolean>;
  /** What was posted is gone. */
  unposted(lease: LeaseRef, conversationId: string, id: string): Promise<void>;
  /** Of these keys of files those that nobody needs: no turn, no part to send, and no retry by hand. At most 1,000. */
  unneededFiles(keys: readonly string[]): Promise<readonly string[]>;
  /** Deletes what is over the bounds of age and number, in short steps. What waits is kept. */
  prune(): Promise<void>;
  /**
   * Calls back when there may be something to do: `channel`, to connect or to let go of; `work`, to send or to fetch. With
   * `agentId` null of any agent.
   */
  onWork(listener: (what: { readonly agentId: string | null; readonly of: 'channel' | 'work' }) => void): () => void;
}

export interface FileToFetch extends LeaseRef {
  readonly id: string;
  readonly ref: string;
  readonly attempts: number;
}

/** Parts of one answer's text. What is beyond is not sent. */
export const maxAnswerParts = 100;

export interface PartToSend extends LeaseRef {
  readonly id: string;
  /** The same for every try. At most 36 characters. */
  readonly key: string;
  /** The platform's. */
  readonly conversationId: string;
  readonly conversationKind: ConversationKind;
  readonly replyTo: Json | null;
  readonly index: number;
  readonly count: number;
  readonly sentIds: readonly string[];
  readonly content:
    | { readonly kind: 'text'; readonly text: string; readonly format: string | null }
    /** A whole answer that is not yet in parts. */
    | { readonly kind: 'markdown'; readonly markdown: string }
    | {
        readonly kind: 'file';
        readonly name: string;
        readonly mediaType: string;
        readonly bytes: number;
        readonly key: string;
      };
  readonly attempts: number;
  /** It may have been sent by who had the channel before. */
  readonly unclear: boolean;
  /** Since the first try of which nobody knows whether it was sent, in ms; null where every try surely was not. */
  readonly unclearForMs: number | null;
}

/** What a conversation shows of a turn, and what it could show. */
export interface ShownProgress extends LeaseRef {
  readonly conversationId: string;
  /** Of the turn under way; null where there is none. */
  readonly claim: number | null;
  /** The end of what the agent has said in it so far. */
  readonly said: string;
  /** The message that shows progress, by the platform's id, and the claim that it was posted for. */
  readonly posted: { readonly id: string; readonly claim: number } | null;
  /** Something is to be sent into the conversation. */
  readonly isAnswering: boolean;
  /** Something is to be sent by the channel, wherever. */
  readonly isSending: boolean;
}

export interface Working extends LeaseRef {
  readonly conversationId: string;
  readonly replyTo: Json | null;
}
