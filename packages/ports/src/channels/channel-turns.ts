/**
 * Messages that wait for a turn, as the maker of turns sees them. A conversation has one turn at a time. All messages that
 * wait when the turn begins are part of it, in order and within bounds. A command (`commandIn`) is claimed alone, and texts
 * are claimed up to the next command. A command does not wait for postponed texts: it comes before them.
 */
import type { ChannelCommand, ChannelName, Choice, ConversationKind } from '@lodge/domain';

export interface WaitingConversation {
  /** Lodge's own id. */
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly channel: ChannelName;
  readonly kind: ConversationKind;
  /** The platform's id. */
  readonly conversationId: string;
  /** The name on the platform, which is a stranger's text. */
  readonly title: string | null;
  /** Rises with `/new` and names the agent's session. */
  readonly session: number;
  /** Fences every write of the claim. */
  readonly claim: number;
  /** Number of earlier claims of these messages, by processes that died or turns that could not begin. */
  readonly attempts: number;
  /**
   * The owner's sentence about the last ended message of this conversation. Null when it was answered, or when there is
   * none.
   */
  readonly lastReason: string | null;
  /**
   * Texts, or one command alone, oldest first. There are at most `maxJoined` of at most `maxJoinedBytes`, or one longer
   * text.
   */
  readonly messages: readonly WaitingMessage[];
}

export const maxJoined = 20;
/** Bytes of the joined texts in UTF-8, which is the size that runtimes accept in one turn. */
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
  /** The key of the bytes on the host (`ChannelFiles`); null when they could not be fetched. */
  readonly key: string | null;
  /** The reason why the bytes are missing, in a few words. */
  readonly reason: string | null;
}

/** An answer of the agent, or of Lodge in its place. */
export interface ChannelAnswer {
  /** Markdown; empty when the answer has only files. */
  readonly text: string;
  readonly files: readonly {
    readonly name: string;
    readonly mediaType: string;
    readonly bytes: number;
    readonly key: string;
  }[];
  /** Buttons below the text, where the platform has them. */
  readonly choices?: readonly Choice[];
}

/** A command that waits and is answered beside the turns. */
export interface Aside {
  /** The message's id. */
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly command: ChannelCommand;
}

/**
 * The owner of a file, and its direction. Files and bytes are bounded per agent and per account, separately for each
 * direction.
 */
export interface FileOwner {
  readonly accountId: string;
  readonly agentId: string;
  /** `in` comes from a platform; `out` goes to one. */
  readonly way: 'in' | 'out';
}

/** Bytes of files in transit between platforms and guests, outside the database. This port makes the keys. */
export interface ChannelFiles {
  /**
   * Writes a file and syncs it before it resolves. Rejects beyond `maxBytes`, or with a `NoRoomError`; then nothing is kept.
   */
  write(
    owner: FileOwner,
    bytes: AsyncIterable<Uint8Array>,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<{ readonly key: string; readonly bytes: number }>;
  read(key: string): AsyncIterable<Uint8Array>;
  /** Removes a file. An absent file is a success. */
  remove(key: string): Promise<void>;
  /** Returns the keys of files older than `before`. */
  olderThan(before: Date): Promise<readonly string[]>;
}

/**
 * Thrown when the agent or its account keeps too many files or bytes, or the host's disk is low. Senders and guests must not
 * fill the disk.
 */
export class NoRoomError extends Error {
  constructor() {
    super('there is no room for files of channels');
    this.name = 'NoRoomError';
  }
}
