/** The stub's interface for tests. */

export interface UserMessage {
  readonly text?: string;
  /** `direct` when it is left out. */
  readonly in?: 'direct' | 'group';
  /** The text is preceded by a mention of the bot. */
  readonly mention?: boolean;
  /** It answers the last message of the bot in that place. */
  readonly repliesToBot?: boolean;
  /** A topic of the group, which makes it a forum. */
  readonly thread?: number;
  readonly from?: { readonly id?: number; readonly name?: string; readonly isBot?: boolean };
  readonly groupName?: string;
  readonly file?: StubFile;
  /** Fields of the message that are put over those that were made. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface StubFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** `document` when it is left out. */
  readonly as?: 'document' | 'photo' | 'voice';
  /** The size in the message, if it differs from the real one. */
  readonly claimedBytes?: number;
}

export interface Written {
  readonly updateId: number;
  readonly messageId: number;
  readonly chatId: number;
  readonly thread: number | null;
}

export interface SentByBot {
  readonly method: string;
  readonly messageId: number;
  readonly chatId: number;
  readonly thread: number | null;
  /** The text, the Markdown, or the caption. */
  readonly text: string;
  readonly repliesTo: number | null;
  /** Nobody was notified: no answer, but what shows that one is made. */
  readonly isSilent: boolean;
  readonly file: { readonly name: string; readonly bytes: Uint8Array } | null;
  /** Below the message. */
  readonly buttons: readonly Button[];
}

export interface Button {
  readonly text: string;
  readonly callback_data: string;
}

export interface ButtonPress {
  /** The label of the button; null with `data`. */
  readonly label?: string;
  /** Data that no button has, as a client of a person's own can send. */
  readonly data?: unknown;
  /** The message; the last one with buttons when it is left out. */
  readonly messageId?: number;
  readonly from?: { readonly id?: number; readonly name?: string };
  /** Fields that are put over those of the query. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The bot whose chats they are. */
export interface ChatsOwner {
  readonly id: number;
  readonly name: string;
  readonly username: string;
  readonly sent: readonly SentByBot[];
}

export interface ApiFailure {
  readonly code: number;
  readonly description: string;
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

/**
 * - `unreachable`: every connection of the bot's requests is cut, until `mended`.
 * - `deaf_polls`: polls that are open now stay open for ever and get nothing; later ones do.
 * - `deaf`: every poll ends empty after its time, whatever waits, until `mended`.
 * - `slow`: every reply but those of polls comes after two seconds, until `mended`.
 */
export type Trouble = 'unreachable' | 'deaf_polls' | 'deaf' | 'slow' | 'mended';

/** A refusal in the form of the Bot API. */
export class ApiRefusal extends Error {
  readonly failure: ApiFailure;
  constructor(code: number, description: string, parameters?: ApiFailure['parameters']) {
    super(description);
    this.failure = { code, description, ...(parameters && { parameters }) };
  }
}

export const badRequest = (description: string): ApiRefusal => new ApiRefusal(400, `Bad Request: ${description}`);
