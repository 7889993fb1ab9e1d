import type { HookHeaders, OwnSignature, SignatureKind } from '@lodge/domain';
import type { ActorNote, Delivery, HookMessage, HookPlace, HookRow } from '@lodge/ports';

export interface HookInput {
  readonly name: string;
  readonly template: string | null;
  readonly conversation: string | null;
  readonly deliver: Delivery;
  readonly signature: {
    readonly kind: SignatureKind;
    readonly own: OwnSignature | null;
    readonly secret: string;
  } | null;
}

export interface HookRequest {
  readonly headers: HookHeaders;
  readonly body: Uint8Array;
}

/** The outcome of a request; without an id it only asked whether the hook is there. */
export interface TakenRequest {
  readonly id: string | null;
  /** Whether the delivery came before. */
  readonly isRepeated: boolean;
}

/**
 * Inbound hooks. The owners' use-cases refuse with `agent_not_found` where the account has no such agent, and with
 * `hook_not_found` where the agent has no such hook.
 */
export interface Hooks {
  /** Oldest first. */
  list(accountId: string, agentId: string): Promise<readonly HookRow[]>;
  /**
   * Creates a hook with this id. Its token is shown this once. Refuses with `invalid_request` and the field, or with
   * `quota_exceeded`.
   */
  create(
    place: HookPlace,
    input: HookInput,
    note?: ActorNote,
  ): Promise<{ readonly hook: HookRow; readonly token: string }>;
  /** Removes a hook and cuts its running turn. */
  remove(place: HookPlace, note?: ActorNote): Promise<void>;
  /** Newest first. */
  messages(
    place: HookPlace,
    page: { readonly before?: string; readonly limit: number },
  ): Promise<readonly HookMessage[]>;
  /** Whether a token could be one of Lodge's; other tokens cost no look-up. */
  isToken(token: string): boolean;
  /** Returns null if the token opens nothing. */
  opened(token: string): Promise<HookRow | null>;
  /** Refuses a request with `invalid_signature` if it is not signed as the hook wants. */
  check(hook: HookRow, request: HookRequest): void;
  /**
   * Resolves once the request is stored. Refuses with `invalid_json`, `invalid_request`, `request_too_large`, or
   * `rate_limit_exceeded`.
   */
  receive(hook: HookRow, request: HookRequest): Promise<TakenRequest>;
}
