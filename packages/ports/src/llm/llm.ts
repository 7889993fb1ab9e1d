import type { RuntimeKind } from '@lodge/domain';

/** Wire formats of LLM providers' APIs. */
export const llmApis = [
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'google-generative-ai',
] as const;
export type LlmApi = (typeof llmApis)[number];

/** An LLM provider as the broker knows it: built in, or added by the operator. */
export interface Provider {
  /** Wire id, as in `llm_keys[].provider` and in the prefix of a runtime_a model. */
  readonly id: string;
  readonly name: string;
  /** Where it speaks each API that it speaks. */
  readonly endpoints: Readonly<Partial<Record<LlmApi, ProviderEndpoint>>>;
  /** The one of its APIs that runtimes are to use. */
  readonly api: LlmApi;
  /** False for servers that take no key (Ollama, vLLM on a private network). */
  readonly needsKey: boolean;
  /** A request that costs nothing and tells whether a key is good; null where there is none. */
  readonly keyCheck: KeyCheck | null;
  /** Where its models and keys are explained. */
  readonly docsUrl: string | null;
  /** Sent with every request, lower case; the operator's, and perhaps secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the operator said of its models; others can be used too, unless `onlyModels`. */
  readonly models: readonly OfferedModel[];
  /** Whether `models` is all that may be asked of it. */
  readonly onlyModels: boolean;
  readonly operatorAdded: boolean;
  /** Whether it may be at a private or link-local address. */
  readonly privateAddresses: boolean;
  /** Tokens its models take in, where the operator said so. */
  readonly contextWindow: number | null;
}

export interface ProviderEndpoint {
  /** Without a trailing slash; `chat/completions`, `responses`, `messages` or `models/…` is appended. */
  readonly baseUrl: string;
  /** Header that carries the key, lower case; in `authorization` it is a bearer token. */
  readonly keyHeader: string;
}

export interface KeyCheck {
  /** Asked by GET: 2xx says that the key is good, 401 and 403 that it is not. */
  readonly url: string;
  readonly keyHeader: string;
}

export interface OfferedModel {
  /** The provider's own name of it. */
  readonly name: string;
  readonly contextWindow: number | null;
  readonly prices: ModelPrices | null;
}

/** Decimal USD for a million tokens each; what is null costs what plain input does. */
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
  /** The agent's model as on the record: `<provider>/<model_name>` for runtime_a, bare for runtime_b; see `agentModel`. */
  readonly model: string;
  /** Sealed provider keys by provider id; see `llmKeyContext`. */
  readonly sealedKeys: Readonly<Record<string, string>>;
  /** Whether its account wants the contents of calls kept. */
  readonly keepsContents: boolean;
  /** Models that it may call beside its own and its members', as `<provider>/<model>`; null: any that its providers have. */
  readonly models: readonly string[] | null;
  /** Whether a spend limit holds for it: its own, its account's or the deployment's. */
  readonly spendLimited: boolean;
}

/** Finds agents by the source address of their VM. */
export interface AgentDirectory {
  byAddress(address: string): Promise<BrokerAgent | null>;
}

/** Tokens of a call. Null where nobody told and nothing was there to estimate from. */
export interface TokenUsage {
  /** Excludes cached tokens. */
  readonly inputTokens: number | null;
  /** Includes reasoning. */
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  /** Includes those of `cacheWriteLongTokens`. */
  readonly cacheWriteTokens: number | null;
  /** Written to a cache that lasts an hour, which costs more, where the provider tells. */
  readonly cacheWriteLongTokens: number | null;
  /** Part of the output, where the provider tells. */
  readonly reasoningTokens: number | null;
  /** Images among the output, where the provider tells. */
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
  /** `interrupted`: the server died in its midst. */
  readonly outcome: 'ok' | 'provider_error' | 'cancelled' | 'unreachable' | 'refused' | 'interrupted';
  /** Tokens were not all told, or the price is assumed. */
  readonly estimated: boolean;
  /** Decimal USD, or null when the model has no known price. */
  readonly costUsd: string | null;
  /** Names the price list that `costUsd` is by. */
  readonly priceVersion: string | null;
}

/** What was said in a call, as it is kept where the account wants that. */
export interface CallContent {
  /** The body that the guest sent; null when none was read. */
  readonly request: string | null;
  /** The body that the provider answered, the events of a stream one after another; null when nothing whole came. */
  readonly response: string | null;
}

/** A `CallContent` as JSON, sealed; see `callContentContext`. */
export interface SealedContent {
  readonly sealed: string;
  /** The one or the other is not all there. */
  readonly truncated: boolean;
}

/** A call that is about to go to its provider. */
export interface OpenCall extends Pick<
  LlmCall,
  'id' | 'agentId' | 'accountId' | 'provider' | 'model' | 'api' | 'startedAt'
> {
  /** A hash of the body as the guest sent it: the same for the same request. */
  readonly digest: string;
  /** The most it is expected to take, from the request's size and its bound on output. */
  readonly estimate: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** Null where the model has no known price. */
    readonly costUsd: string | null;
  };
}

/** Why a call must not be made. The message is for the agent and its user. */
export interface CallRefusal {
  readonly code: 'spend_limit_exceeded' | 'loop_detected';
  readonly message: string;
  readonly retryAfterSeconds: number;
  /** What ends with it: the turn, or that and the agent's being awake. Not given: another attempt soon may be admitted. */
  readonly ends?: 'turn' | 'sleep';
}

/** Where LLM calls are written: before they go out, and once they are over. */
export interface CallLedger {
  /** Resolves once it is durable that the call is under way, or with why it must not be made: then nothing is written. */
  open(call: OpenCall): Promise<CallRefusal | null>;
  /**
   * Resolves once the call's one row is durable and it is open no more. The same call twice is one row. `content` is kept with
   * it, if the account still wants that and the agent is not deleted.
   */
  close(call: LlmCall, content?: SealedContent | null): Promise<void>;
  /**
   * Whether another agent that may pay for the agent's next call is under a spend limit. Left out, each agent pays for its own
   * calls alone.
   */
  payerIsLimited?(agentId: string): boolean;
}

/** What models cost. */
export interface PriceBook {
  /** Null when the model has no known price. */
  price(
    provider: string,
    model: string,
    usage: TokenUsage,
  ): { readonly costUsd: string; readonly version: string } | null;
}

/** Whether a key works: null where that could not be told. `message` is one sentence, and never has the key. */
export interface KeyVerdict {
  readonly works: boolean | null;
  readonly message: string;
}

/** Asks providers whether keys work. */
export interface KeyChecker {
  /** Bounded; never rejects. */
  check(provider: string, key: string): Promise<KeyVerdict>;
}

/** The `SecretBox` context of an agent's key for a provider. */
export function llmKeyContext(agentId: string, provider: string): string {
  return `llm_key:${agentId}:${provider}`;
}

/** The `SecretBox` context of what was said in a call. */
export function callContentContext(callId: string): string {
  return `llm_call:${callId}`;
}
