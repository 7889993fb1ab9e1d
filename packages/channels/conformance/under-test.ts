/** The suite's demands on a platform's stub: one driver a platform, so that every adapter passes the same cases. */
import type { ChannelSecrets, ConnectionState, Platform } from '@lodge/ports';

export interface PlatformUnderTest {
  /** The platform at the stub, with quick timings. */
  readonly platform: Platform;
  /** An account at the stub that nobody has used. */
  account(): Promise<AccountUnderTest>;
  stop(): Promise<void>;
}

/** The differences between platforms. A case that needs an ability is left out where it is missing. */
export interface Abilities {
  /** The platform learns what was taken, and `acknowledged` tells. */
  readonly acknowledges: boolean;
  /** A group where some messages address the agent and others do not. */
  readonly groups: boolean;
  /** Threads or topics are conversations of their own. */
  readonly threads: boolean;
  /** Bots can write, and be told from persons. */
  readonly bots: boolean;
  readonly files: boolean;
  /** The platform refuses a send with a time to wait. */
  readonly limitsSends: boolean;
  /** Sent messages can be edited and removed. */
  readonly progress: boolean;
  /** Choices below a message can be pressed. */
  readonly buttons: boolean;
  /** Time within which a deaf connection is noticed, because reception can be proved; null: it cannot. */
  readonly deafWithinMs: number | null;
  /** Credentials can be revoked while connected, and the connection learns within some seconds. */
  readonly revokes: boolean;
}

export interface AccountUnderTest {
  readonly credentials: ChannelSecrets;
  /** Texts that no log line, state or error may hold, including the secret parts of credentials. */
  readonly secrets: readonly string[];
  /** Credentials that the platform does not know, and those of another kind. Empty where nothing is verified. */
  readonly wrong: readonly ChannelSecrets[];
  /** Does what a person does for a connection to come up, at each change of its state: scans a code. */
  admit?(state: ConnectionState): void;
  /** Resolves when the platform has it, not when it is delivered. */
  userWrites(message: UserMessage): Promise<Written>;
  /** The agent's sent messages, oldest first. */
  sent(): readonly SentByAgent[];
  /** Texts of the agent that stand now, as they were last edited; where there is progress. */
  shown?(): readonly string[];
  /** Messages of the agent that rang more people than those who read along; where there is progress. */
  rang?(): number;
  /** The agent's messages with buttons as they stand now; where the platform has buttons. */
  buttons?(): readonly { readonly text: string; readonly labels: readonly string[] }[];
  /** A person presses a button of the last message that has one. Resolves with the stub's id of the press. */
  userPresses?(press: {
    readonly label: string;
    /** Another person than the one who writes. */
    readonly by?: 'another';
    /** Nobody can be told any more what the press led to. */
    readonly isLate?: true;
  }): Promise<string>;
  /** The sentence that the person was shown; null: none. */
  told?(press: string): string | null;
  /** How often the agent showed that it is at work. */
  typings(): number;
  /** Whether the platform takes the message for delivered. */
  acknowledged(written: Written): boolean;
  /** Requests and connections of this account so far: stays the same once a connection has ended. */
  calls(): number;
  misbehave(how: Misbehaviour): Promise<void>;
}

export interface UserMessage {
  readonly text: string;
  /** `direct` when it is left out. All messages of an account in one place are of one conversation. */
  readonly in?: 'direct' | 'group';
  /** The text is preceded by a mention of the agent. */
  readonly mention?: boolean;
  /** It answers the last message of the agent in that place. */
  readonly repliesToAgent?: boolean;
  readonly thread?: string;
  readonly from?: { readonly name?: string; readonly isBot?: boolean };
  readonly groupName?: string;
  readonly file?: { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array };
}

export interface Written {
  /** The stub's own id of the message. */
  readonly id: string;
  /** The stub's own name of the place, threads included; the same as in `SentByAgent`. */
  readonly place: string;
}

export interface SentByAgent {
  readonly place: string;
  readonly text: string;
  readonly file: { readonly name: string; readonly bytes: Uint8Array } | null;
}

/**
 * - `unreachable`: drops every connection and every request, until `mend`.
 * - `deaf`: connections that are open now stay open and deliver nothing more; new ones deliver.
 * - `redeliver`: the last message comes once more, as the platform does it.
 * - `revoke`: the credentials are no longer good.
 * - `limit_next_send`: the next send is refused, with a time to wait.
 * - `limit_next_edit`: the same of the next edit.
 * - `unclear_next_send`: the next send is done, and its connection breaks before the reply.
 */
export type Misbehaviour =
  | { readonly do: 'unreachable' | 'mend' | 'deaf' | 'redeliver' | 'revoke' | 'unclear_next_send' }
  | { readonly do: 'limit_next_send' | 'limit_next_edit'; readonly retryAfterMs: number };
