import type { Confirmations, RuntimeKind } from '@lodge/domain';

/** Wire formats of LLM providers' APIs. */
export const llmApis = [
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'google-generative-ai',
] as const;
export type LlmApi = (typeof llmApis)[number];

/** An LLM provider as the broker knows it, either built in or added by the operator. */
export interface Provider {
  /** Wire id, as in `llm_keys[].provider` and in the prefix of a model. */
  readonly id: string;
  readonly name: string;
  /** The endpoint of each API that it serves. */
  readonly endpoints: Readonly<Partial<Record<LlmApi, ProviderEndpoint>>>;
  /** The API that runtimes should use. */
  readonly api: LlmApi;
  /** False for servers that take no key (Ollama, vLLM on a private network). */
  readonly needsKey: boolean;
  /** A free request that shows whether a key is good; null when there is none. */
  readonly keyCheck: KeyCheck | null;
  /** The page that explains its models and keys. */
  readonly docsUrl: string | null;
  /** Headers of every request, in lower case. The operator set them, and they may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** The models that the operator described. Others can be used too, unless `onlyModels`. */
  readonly models: readonly OfferedModel[];
  /** Whether only `models` may be used. */
  readonly onlyModels: boolean;
  readonly operatorAdded: boolean;
  /** Whether it may be at a private or link-local address. */
  readonly privateAddresses: boolean;
  /** Tokens that its models take in, when the operator said so. */
  readonly contextWindow: number | null;
}

export interface ProviderEndpoint {
  /** Without a trailing slash; `chat/completions`, `responses`, `messages` or `models/…` is appended. */
  readonly baseUrl: string;
  /** Header that carries the key, lower case; in `authorization` it is a bearer token. */
  readonly keyHeader: string;
}

export interface KeyCheck {
  /** The address for a GET request: 2xx means that the key is good, 401 and 403 that it is not. */
  readonly url: string;
  readonly keyHeader: string;
}

export interface OfferedModel {
  /** The provider's own name of the model. */
  readonly name: string;
  readonly contextWindow: number | null;
  readonly prices: ModelPrices | null;
}

/** Decimal USD for a million tokens of each kind. A null price equals that of plain input. */
export interface ModelPrices {
  readonly input: string;
  readonly output: string;
  readonly cacheRead: string | null;
  readonly cacheWrite: string | null;
}

/** The agent behind a source address, as the broker needs it. */
export interface BrokerAgent {
  readonly agentId: string;
  readonly accountId: string;
  readonly runtimeKind: RuntimeKind;
  /** The agent's model as on the record: `<provider>/<model_name>`, or bare where its runtime has bare models; see `agentModel`. */
  readonly model: string;
  /** Sealed provider keys by provider id; see `llmKeyContext`. */
  readonly sealedKeys: Readonly<Record<string, string>>;
  /** Whether its account stores the contents of calls. */
  readonly keepsContents: boolean;
  /**
   * Models that it may call beside its own and its members', as `<provider>/<model>`. Null allows every model of its
   * providers.
   */
  readonly models: readonly string[] | null;
  /** Whether a spend limit applies: its own, its account's or the deployment's. */
  readonly spendLimited: boolean;
  /** Rules about the calls that need somebody's yes; null: none. */
  readonly confirmations: Confirmations | null;
}

/** Finds agents by the source address of their VM. */
export interface AgentDirectory {
  byAddress(address: string): Promise<BrokerAgent | null>;
}

/** Tokens of a call. Null when the provider reported none and there was nothing to estimate from. */
export interface TokenUsage {
  /** Excludes cached tokens. */
  readonly inputTokens: number | null;
  /** Includes reasoning. */
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  /** Includes `cacheWriteLongTokens`. */
  readonly cacheWriteTokens: number | null;
  /** Tokens written to a cache that lasts an hour and costs more, when the provider reports them. */
  readonly cacheWriteLongTokens: number | null;
  /** Part of the output, when the provider reports it. */
  readonly reasoningTokens: number | null;
  /** Images among the output, when the provider reports them. */
  readonly imageTokens: number | null;
}

/** One finished call to a provider, however it ended. */
export interface LlmCall extends TokenUsage {
  readonly id: string;
  readonly agentId: string;
  readonly accountId: string;
  readonly provider: string;
  readonly model: string;
  readonly api: LlmApi;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** From the call's start to the first byte of the answer's body. */
  readonly timeToFirstByteMs: number | null;
  /** HTTP status of the provider's answer, or null when none came. */
  readonly status: number | null;
  /** `interrupted` means that the server died during the call. */
  readonly outcome: 'ok' | 'provider_error' | 'cancelled' | 'unreachable' | 'refused' | 'interrupted';
  /** Whether some tokens were not reported, or the price is assumed. */
  readonly estimated: boolean;
  /** Decimal USD, or null when the model has no known price. */
  readonly costUsd: string | null;
  /** The price list behind `costUsd`. */
  readonly priceVersion: string | null;
}

/** The contents of a call, stored when the account wants it. */
export interface CallContent {
  /** The body that the guest sent; null when none was read. */
  readonly request: string | null;
  /** The body of the provider's answer, with the events of a stream one after another; null when nothing complete came. */
  readonly response: string | null;
}

/** A `CallContent` as JSON, sealed; see `callContentContext`. */
export interface SealedContent {
  readonly sealed: string;
  /** Whether either body is incomplete. */
  readonly truncated: boolean;
}

/** A call that is about to go to its provider. */
export interface OpenCall extends Pick<
  LlmCall,
  'id' | 'agentId' | 'accountId' | 'provider' | 'model' | 'api' | 'startedAt'
> {
  /** A hash of the guest's body, equal for equal requests. */
  readonly digest: string;
  /** The most that it is expected to use, by the request's size and its bound on output. */
  readonly estimate: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** Null when the model has no known price. */
    readonly costUsd: string | null;
  };
}

/** The reason why a call must not be made. The message is for the agent and its user. */
export interface CallRefusal {
  readonly code: 'spend_limit_exceeded' | 'loop_detected';
  readonly message: string;
  readonly retryAfterSeconds: number;
  /**
   * The scope of the refusal: the turn, or the turn and the agent's waking state. When absent, another attempt may soon be
   * admitted.
   */
  readonly ends?: 'turn' | 'sleep';
}

/** The record of LLM calls, written before they go out and when they are over. */
export interface CallLedger {
  /**
   * Opens a call and resolves once that is durable. Resolves with the reason when the call must not be made; then nothing is
   * written.
   */
  open(call: OpenCall): Promise<CallRefusal | null>;
  /**
   * Closes a call and resolves once its one row is durable. Closing the same call twice makes one row. `content` is stored
   * with it if the account still wants that and the agent is not deleted.
   */
  close(call: LlmCall, content?: SealedContent | null): Promise<void>;
  /**
   * Whether another agent that may pay for the agent's next call is under a spend limit. When absent, each agent pays for
   * its own calls only.
   */
  payerIsLimited?(agentId: string): boolean;
}

/** Prices of models. */
export interface PriceBook {
  /** Null when the model has no known price. */
  price(
    provider: string,
    model: string,
    usage: TokenUsage,
  ): { readonly costUsd: string; readonly version: string } | null;
}

/** Whether a key works; null when unknown. `message` is one sentence and never contains the key. */
export interface KeyVerdict {
  readonly works: boolean | null;
  readonly message: string;
}

/** Checks with providers whether keys work. */
export interface KeyChecker {
  /** Bounded; never rejects. */
  check(provider: string, key: string): Promise<KeyVerdict>;
}

/** The `SecretBox` context of an agent's key for a provider. */
export function llmKeyContext(agentId: string, provider: string): string {
  return `llm_key:${agentId}:${provider}`;
}

/** The `SecretBox` context of a call's contents. */
export function callContentContext(callId: string): string {
  return `llm_call:${callId}`;
}
