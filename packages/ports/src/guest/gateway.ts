/**
 * A turn at the gateway in a guest. A guest is hostile: an adapter bounds all that it reads from one, and tells a failure by its
 * kind. The words of a gateway are read in one place, the runtime's own translation (`AgentRuntime.turnFailure`).
 */
import type { Json } from '@lodge/domain';
import type { ChatEndpoint } from './endpoint.ts';

/** OpenAI's APIs that an agent answers on, as paths under its base URL. */
export type TurnApi = 'chat/completions' | 'responses';

export interface Gateway {
  /** Sends a turn. Resolves with its answer once the gateway has accepted the turn, else rejects with a `GatewayFailure`. */
  open(turn: GatewayTurn): Promise<GatewayAnswer>;
}

export interface GatewayTurn {
  readonly endpoint: ChatEndpoint;
  readonly api: TurnApi;
  /** The whole request, `model` included. */
  readonly body: Json;
  /** What the runtime's errors mean. */
  readonly explain: (told: ToldError) => FailureFacts;
  /** Bounds the turn from its beginning to the last byte of its answer. Its reason, an error, is what a cut turn rejects with. */
  readonly signal: AbortSignal;
}

/** The answer under way: it is read once, in one of the two ways. Both reject with a `GatewayFailure`. */
export interface GatewayAnswer {
  /** Of a request with `stream: true`. Ends with the event that `isLast`; an answer that breaks off before it rejects. */
  events(): AsyncIterable<GatewayEvent>;
  /** Of any other request. */
  whole(): Promise<WholeAnswer>;
}

export interface GatewayEvent {
  /** The event as the gateway wrote it, without the blank line behind it. */
  readonly block: string;
  /** Its data; null where they are no JSON object: a comment, or the end mark of chat completions. */
  readonly data: Json | null;
  /** Its lines that are no data: comments, and fields such as `id`. */
  readonly otherLines: readonly string[];
  /** What it adds to the text of the answer. */
  readonly text: string;
  /** Nothing follows. */
  readonly isLast: boolean;
}

export interface WholeAnswer {
  readonly body: Json;
  readonly text: string;
}

/** An error as a gateway tells it in OpenAI's shape. The words are the guest's, of bounded length. */
export interface ToldError {
  /** Null for an error in the midst of an answer. */
  readonly status: number | null;
  /** OpenAI's type or code of the error; '' where it has none. */
  readonly type: string;
  readonly message: string;
  /** As the reply's header says. */
  readonly retryAfterSeconds: number | null;
}

/**
 * Why a turn failed.
 *
 * - `not_connected`: no connection came about, so nothing of the turn has happened.
 * - `not_serving`: the gateway takes no turns at the moment.
 * - `broken_off`: the connection or the answer ended too early.
 * - `request_refused`: the request is at fault; `words` says why.
 * - `request_too_large`: the gateway takes no request of this size.
 * - `provider_rate_limit`, `provider_refused_key`: the LLM provider said so.
 * - `provider_failed`: the LLM provider failed; `words` is one word on how.
 * - `turn_failed`: all else.
 */
export type FailureKind =
  | 'not_connected'
  | 'not_serving'
  | 'broken_off'
  | 'request_refused'
  | 'request_too_large'
  | 'provider_rate_limit'
  | 'provider_refused_key'
  | 'provider_failed'
  | 'turn_failed';

export interface FailureFacts {
  readonly kind: FailureKind;
  /** Public words, one line of bounded length. */
  readonly words?: string;
  readonly retryAfterSeconds?: number | null;
}

/** A turn failed at its gateway. The message and the cause are for the operator alone. */
export class GatewayFailure extends Error {
  readonly facts: FailureFacts;
  constructor(facts: FailureFacts, cause: unknown) {
    super(`a turn failed: ${facts.kind}`, { cause });
    this.name = 'GatewayFailure';
    this.facts = facts;
  }
}
