/**
 * A turn at the gateway in a guest. A guest is hostile: an adapter bounds everything that it reads from one, and reports a
 * failure by its kind. Only the runtime's own translation (`AgentRuntime.turnFailure`) reads a gateway's words.
 */
import type { Json } from '@lodge/domain';
import type { Dial } from './guest-address.ts';
import { NamedError } from '@lodge/domain';

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
  /** Translates the runtime's errors. */
  readonly explain: (reported: ReportedError) => FailureFacts;
  /** Translates the runtime's reports of its tools; given when the caller wants the steps of a chat that streams. */
  readonly toolStep?: ReadToolStep | undefined;
  /**
   * Bounds the turn from its beginning to the last byte of its answer. A cut turn rejects with the signal's reason, an
   * error.
   */
  readonly signal: AbortSignal;
}

/** The answer in progress. It is read once, in one of the two ways. Both reject with a `GatewayFailure`. */
export interface GatewayAnswer {
  /**
   * Yields the events of a request with `stream: true`. Ends with the event that `isLast`; an answer that breaks off earlier
   * rejects.
   */
  events(): AsyncIterable<GatewayEvent>;
  /** Resolves with the answer to any other request. */
  whole(): Promise<WholeAnswer>;
}

export interface GatewayEvent {
  /** The event as the gateway wrote it, without the blank line behind it. */
  readonly block: string;
  /** The event's data; null when it is no JSON object, such as a comment or the end mark of chat completions. */
  readonly data: Json | null;
  /** The event's other lines: comments, and fields such as `id`. */
  readonly otherLines: readonly string[];
  /** The text that the event adds to the answer. */
  readonly text: string;
  /** Whether nothing follows. */
  readonly isLast: boolean;
  /** A step of the agent's tools. The event then has no block and adds nothing else. */
  readonly step?: ToolStep;
}

/** A tool of the agent begins, or has ended. Both have the same id, tool and title. */
export interface ToolStep {
  /** Names the step within its turn. */
  readonly id: string;
  /** The runtime's name of the tool, as one short line. */
  readonly tool: string;
  readonly status: 'started' | 'completed' | 'failed';
  /** One short line on what the tool is used for, such as a file's name. */
  readonly title?: string;
}

/** A runtime's report of a tool. The words are the guest's, of any length. */
export interface ReportedStep {
  /** The runtime's name of the call. */
  readonly call: string;
  readonly tool: string;
  readonly status: ToolStep['status'];
  /** '' where it has none. */
  readonly title: string;
}

/** Reads an event that has a name. Null when it is no report of a tool. */
export type ReadToolStep = (event: string, data: Json) => ReportedStep | null;

export interface WholeAnswer {
  readonly body: Json;
  readonly text: string;
}

/** An error in OpenAI's shape, as a gateway reports it. The words are the guest's, of bounded length. */
export interface ReportedError {
  /** Null for an error in the midst of an answer. */
  readonly status: number | null;
  /** OpenAI's type or code of the error; '' where it has none. */
  readonly type: string;
  readonly message: string;
  /** The value of the reply's header. */
  readonly retryAfterSeconds: number | null;
}

/**
 * The reason why a turn failed.
 *
 * - `not_connected`: no connection came about, so nothing of the turn has happened.
 * - `not_serving`: the gateway takes no turns at the moment.
 * - `broken_off`: the connection or the answer ended too early.
 * - `request_refused`: the request is at fault; `words` says why.
 * - `request_too_large`: the gateway takes no request of this size.
 * - `provider_rate_limit`, `provider_refused_key`: the LLM provider said so.
 * - `provider_failed`: the LLM provider failed; `words` is one word on how.
 * - `turn_failed`: any other failure.
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

/** Thrown when a turn failed at its gateway. Only the operator sees the message and the cause. */
export class GatewayFailure extends NamedError {
  readonly facts: FailureFacts;
  constructor(facts: FailureFacts, cause: unknown) {
    super(`a turn failed: ${facts.kind}`, { cause });
    this.facts = facts;
  }
}

/**
 * The address and headers of an agent's OpenAI-compatible endpoints. `headers` hold the gateway's token, which only the host
 * knows. They alone name the conversation of the turn; the body does not.
 */
export interface ChatEndpoint {
  readonly dial: Dial;
  /**
   * URL without a trailing slash under which are `POST chat/completions` and `POST responses`. Its port is dialled; its host
   * is only a name for the guest.
   */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The value that the runtime expects in `model`. */
  readonly model: string;
  /** Whether pictures in the turn's request reach the model. */
  readonly takesPictures: boolean;
}
