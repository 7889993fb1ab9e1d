import type { HookMessageState, OwnSignature, SignatureKind } from '@lodge/domain';
import type { Unsayable } from '../channels/channel-store.ts';
import type { Delivery } from '../channels/delivery.ts';
import type { ActorNote } from '../events/change-note.ts';
import type { ClaimedTurn, ClaimedTurns } from '../turns/claimed-turns.ts';

/** The signature scheme of a hook's senders; the secret is sealed with `hookSecretContext`. */
export interface HookSignature {
  readonly kind: SignatureKind;
  /** Set only with kind `hmac`. */
  readonly own: OwnSignature | null;
  readonly sealed: string;
  readonly last4: string;
}

export const hookSecretContext = (hookId: string): string => `hook/${hookId}/secret`;

export interface NewHook {
  readonly name: string;
  /** SHA-256 of the token, which is stored nowhere. */
  readonly tokenHash: Uint8Array;
  readonly last4: string;
  readonly template: string | null;
  /** The agent's conversation; null for one of the hook's own. */
  readonly conversation: string | null;
  /** The destination of the answers. */
  readonly deliver: Delivery;
  /** With null, possession of the token is enough. */
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

/** A sender's request, rendered for the agent. */
export interface NewHookMessage {
  /** The sender's name for the delivery, or null. */
  readonly deliveryId: string | null;
  readonly event: string | null;
  /** The text for the agent, below the host's line. */
  readonly text: string;
  /** Whether the sender's JSON was too long and was cut. */
  readonly isCut: boolean;
}

export interface HookMessage {
  readonly id: string;
  readonly hookId: string;
  readonly state: HookMessageState;
  /** Number of times its turn was begun. */
  readonly attempts: number;
  /** The reason why it is not `answered`, or the failure of the last attempt while another is to come. */
  readonly reason: string | null;
  readonly receivedAt: Date;
  /** Null when it was not begun. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

/** Bounds on messages that wait or whose turn is in progress. */
export interface HookWaitBounds {
  readonly ofHook: number;
  readonly ofAccount: number;
  /** Bytes of text in UTF-8. */
  readonly bytesOfAccount: number;
}

export interface HookStore {
  /** Returns the agent's hooks, oldest first. */
  list(accountId: string, agentId: string): Promise<readonly HookRow[]>;
  find(place: HookPlace): Promise<HookRow | null>;
  /** Finds the hook of an agent that is not being deleted; null when there is none. */
  findByToken(tokenHash: Uint8Array): Promise<HookRow | null>;
  /**
   * Creates a hook with this id. Returns `full` when the agent has `most` other hooks, `no_agent` when the account has no
   * such agent, and `no_conversation` or `not_allowed` when answers could not be delivered. Nothing is written then.
   */
  create(
    place: HookPlace,
    hook: NewHook,
    most: number,
    note?: ActorNote,
  ): Promise<HookRow | 'full' | 'no_agent' | Unsayable>;
  /** Removes a hook with its messages and cuts a turn in progress. False when there is none. */
  remove(place: HookPlace, note?: ActorNote): Promise<boolean>;
  /**
   * Stores a message with its event. A repeated delivery that is still known returns the first one's id and writes nothing.
   * `full` and `account_full` mean that too many would wait, and `gone` that there is no such hook.
   */
  receive(
    hookId: string,
    message: NewHookMessage,
    bounds: HookWaitBounds,
  ): Promise<{ readonly id: string; readonly isNew: boolean } | 'full' | 'account_full' | 'gone'>;
  /** Returns messages newest first, before the message of the given id. */
  messages(
    place: HookPlace,
    page: { readonly before?: string; readonly limit: number },
  ): Promise<readonly HookMessage[]>;
}

export interface ClaimedHookMessage extends ClaimedTurn {
  readonly event: string | null;
  readonly text: string;
  readonly isCut: boolean;
  readonly receivedAt: Date;
  readonly hook: Pick<HookRow, 'id' | 'accountId' | 'agentId' | 'name' | 'conversation'> & {
    readonly isSigned: boolean;
  };
}

/** Messages of hooks, as the maker of their turns sees them. A message that nobody began in time has failed. */
export type HookTurns = ClaimedTurns<ClaimedHookMessage>;
