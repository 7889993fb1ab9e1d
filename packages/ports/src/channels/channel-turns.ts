/**
 * Messages that wait for a turn, as who makes the turns sees them. A conversation has one turn at a time; all messages that wait
 * in it when the turn begins are a part of it, in their order and within bounds. A command (`commandIn`) is claimed alone, and texts
 * up to the next one. A command does not wait for texts that are put off: it comes before them.
 */
import type { ChannelCommand, ChannelName, ConversationKind } from '@lodge/domain';

export interface WaitingConversation {
  /** Our own id. */
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly kind: ConversationKind;
  /** The platform's. */
  readonly conversationId: string;
  /** As the platform names it; a stranger's text. */
  readonly title: string | null;
  /** Rises with `/new`: names the agent's session. */
  readonly session: number;
  /** Fences what the claim may write. */
  readonly claim: number;
  /** Claims of these messages before this one: of processes that died, or turns that could not begin. */
  readonly attempts: number;
  /** The owner's sentence about the last message of this conversation that came to an end; null where it was answered, or there is none. */
  readonly lastReason: string | null;
  /** Oldest first, at most `maxJoined` of `maxJoinedBytes` or one that is longer: texts, or a command alone. */
  readonly messages: readonly WaitingMessage[];
}

export const maxJoined = 20;
/** Of their texts in UTF-8: what runtimes take in one turn. */
export const maxJoinedBytes = 128 * 1024;

export interface WaitingMessage {
  readonly id: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
  readonly sentAt: Date;
  readonly files: readonly WaitingFile[];
}

export interface WaitingFile {
  readonly name: string;
  readonly mediaType: string;
  readonly kind: 'file' | 'image' | 'voice';
  /** Where its bytes lie on the host (`ChannelFiles`); null: they could not be had. */
  readonly key: string | null;
  /** Why not, in a few words. */
  readonly reason: string | null;
}

/** What the agent, or Lodge in its place, says. */
export interface ChannelAnswer {
  /** Markdown; empty where there are files alone. */
  readonly text: string;
  readonly files: readonly {
    readonly name: string;
    readonly mediaType: string;
    readonly bytes: number;
    readonly key: string;
  }[];
}

/** A command that waits and is answered beside the turns. */
export interface Aside {
  /** The message's. */
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly command: ChannelCommand;
}

export interface ChannelTurns {
  /**
   * Claims conversations in which messages wait whose files are there, none of which has a turn under way: at most `limit`, at
   * most `perAgent` of one agent with those under way, longest waiting first but no account before all others. A claim ends
   * after `leaseMs` unless it is renewed.
   */
  claim(options: {
    readonly holder: string;
    readonly limit: number;
    readonly perAgent: number;
    readonly leaseMs: number;
  }): Promise<readonly WaitingConversation[]>;
  /** Gives the ids whose claims hold on. */
  renew(claims: readonly Pick<WaitingConversation, 'id' | 'claim'>[], leaseMs: number): Promise<ReadonlySet<string>>;
  /** Keeps the end of what the agent has said so far, until the claim ends; a relay may show it. False: the claim was lost. */
  tell(claim: Pick<WaitingConversation, 'id' | 'claim'>, said: string): Promise<boolean>;
  /**
   * Ends the claim with its answer: messages and answer in one transaction. False: the claim was lost, and nothing is written.
   * `outcome` `failed` and `refused` have a sentence for the owner; their text, if any, is sent to the conversation all the same.
   */
  answer(
    claim: Pick<WaitingConversation, 'id' | 'claim'>,
    result: {
      readonly outcome: 'answered' | 'failed' | 'refused';
      readonly reason: string | null;
      readonly answer: ChannelAnswer | null;
      readonly newSession?: boolean;
      /** What waits before its messages ends too, answered with nothing, for this reason; what was put off is so no more. */
      readonly endsEarlier?: string;
    },
  ): Promise<boolean>;
  /** Ends the claim without an answer; the messages wait until `at`. */
  postpone(claim: Pick<WaitingConversation, 'id' | 'claim'>, at: Date, reason: string): Promise<boolean>;
  /** Commands of senders that are to take effect on a turn under way: conversations in which `/stop` came since the turn began. */
  stopsWanted(claims: readonly Pick<WaitingConversation, 'id' | 'claim'>[]): Promise<ReadonlySet<string>>;
  /**
   * Commands that no turn holds up, oldest first: `/help` and `/status` always, `/stop` where no turn of its conversation is under
   * way. A command that a claim has taken is none of them.
   */
  asides(limit: number): Promise<readonly Aside[]>;
  /** Once, in one transaction. False: it is answered already, a claim has it, or a turn began that it is to stop first. */
  answerAside(
    id: string,
    answer: {
      readonly text: string;
      /** As in `answer`. */
      readonly endsEarlier?: string;
    },
  ): Promise<boolean>;
  /** Calls back when messages may wait. */
  onWork(listener: () => void): () => void;
}

/** Whose a file is, and which way it goes: an agent and its account keep so many files and bytes at a time, each way apart. */
export interface FileOwner {
  readonly accountId: string;
  readonly agentId: string;
  /** `in` comes from a platform, `out` goes to one. */
  readonly way: 'in' | 'out';
}

/** Bytes of files on their way between platforms and guests, outside the database. Keys are made here. */
export interface ChannelFiles {
  /** Rejects beyond `maxBytes`, or with a `NoRoomError`, with nothing kept. Written out before it resolves. */
  write(
    owner: FileOwner,
    bytes: AsyncIterable<Uint8Array>,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<{ readonly key: string; readonly bytes: number }>;
  read(key: string): AsyncIterable<Uint8Array>;
  /** Absent is success. */
  remove(key: string): Promise<void>;
  /** Keys that are older than `before`. */
  olderThan(before: Date): Promise<readonly string[]>;
}

/** The agent or its account keeps too many files or bytes, or the host's disk is low: senders and guests must not be what fills it. */
export class NoRoomError extends Error {
  constructor() {
    super('there is no room for files of channels');
    this.name = 'NoRoomError';
  }
}
