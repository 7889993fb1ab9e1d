import type { HookMessageState, OwnSignature, SignatureKind } from '@lodge/domain';
import type { Unsayable } from '../channels/channel-store.ts';
import type { Delivery } from '../channels/delivery.ts';
import type { ActorNote } from '../events/change-note.ts';

/** How senders of a hook sign; the secret is sealed with `hookSecretContext`. */
export interface HookSignature {
  readonly kind: SignatureKind;
  /** With kind `hmac` alone. */
  readonly own: OwnSignature | null;
  readonly sealed: string;
  readonly last4: string;
}

export const hookSecretContext = (hookId: string): string => `hook/${hookId}/secret`;

export interface NewHook {
  readonly name: string;
  /** SHA-256 of the token, which nobody keeps. */
  readonly tokenHash: Uint8Array;
  readonly last4: string;
  readonly template: string | null;
  /** The agent's conversation; null: one of the hook's own. */
  readonly conversation: string | null;
  /** Where the answers go. */
  readonly deliver: Delivery;
  /** Null: whoever has the token is believed. */
  readonly signature: HookSignature | null;
}

export interface HookRow extends Omit<NewHook, 'tokenHash'> {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly createdAt: Date;
}

export interface HookPlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly hookId: string;
}

/** What a sender's request has become. */
export interface NewHookMessage {
  /** The name that the sender gives it; null: none. */
  readonly deliveryId: string | null;
  readonly event: string | null;
  /** What the agent is told below the host's line. */
  readonly text: string;
  /** The sender's JSON was too long for it. */
  readonly isCut: boolean;
}

export interface HookMessage {
  readonly id: string;
  readonly hookId: string;
  readonly state: HookMessageState;
  /** How often its turn was begun. */
  readonly attempts: number;
  /** Why it is not `answered`, or what came of the attempt before while another is to come. */
  readonly reason: string | null;
  readonly receivedAt: Date;
  /** Null: it was not begun. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

/** Of messages that wait, or whose turn is under way. */
export interface HookWaitBounds {
  readonly ofHook: number;
  readonly ofAccount: number;
  /** Of text, in UTF-8. */
  readonly bytesOfAccount: number;
}

export interface HookStore {
  /** Oldest first. */
  list(accountId: string, agentId: string): Promise<readonly HookRow[]>;
  find(place: HookPlace): Promise<HookRow | null>;
  /** Of an agent that is not being deleted; null: nobody's. */
  findByToken(tokenHash: Uint8Array): Promise<HookRow | null>;
  /**
   * With this id. `full` when the agent has `most` others, `no_agent` when the account has no such agent, `no_conversation` and
   * `not_allowed` when the answers could not go there; nothing is written then.
   */
  create(
    place: HookPlace,
    hook: NewHook,
    most: number,
    note?: ActorNote,
  ): Promise<HookRow | 'full' | 'no_agent' | Unsayable>;
  /** With its messages; a turn under way is cut. False: there is none. */
  remove(place: HookPlace, note?: ActorNote): Promise<boolean>;
  /**
   * Keeps a message, with its event. One with the delivery of another that is still known is that one: nothing is written. `full`
   * and `account_full` when it would be more than may wait; `gone` when there is no such hook.
   */
  receive(
    hookId: string,
    message: NewHookMessage,
    bounds: HookWaitBounds,
  ): Promise<{ readonly id: string; readonly isNew: boolean } | 'full' | 'account_full' | 'gone'>;
  /** Newest first, before the message of that id where one is given. */
  messages(
    place: HookPlace,
    page: { readonly before?: string; readonly limit: number },
  ): Promise<readonly HookMessage[]>;
}
