import type { LlmApi } from './runtime.ts';

/** An LLM provider as the broker knows it: built in, or added by the operator. */
export interface Provider {
  /** Wire id, as in `llm_keys[].provider` and in the prefix of a runtime_a model. */
  readonly id: string;
  readonly name: string;
  readonly api: LlmApi;
  /** Base of the provider's API, without a trailing slash; `chat/completions` or `messages` is appended. */
  readonly baseUrl: string;
  /** False for servers that take no key (Ollama, vLLM on a private network). */
  readonly needsKey: boolean;
  /** True when the operator added it: only then may `baseUrl` be a private address. */
  readonly operatorAdded: boolean;
  /** Tokens its models take in, where the operator said so. */
  readonly contextWindow: number | null;
}

/** The agent behind a source address, as the broker needs it. */
export interface BrokerAgent {
  readonly agentId: string;
  readonly accountId: string;
  /** The agent's model as on the record: `<provider>/<model_name>` for runtime_a. */
  readonly model: string;
  /** Sealed provider keys by provider id; see `llmKeyContext`. */
  readonly sealedKeys: Readonly<Record<string, string>>;
}

/** Finds agents by the source address of their VM. */
export interface AgentDirectory {
  byAddress(address: string): Promise<BrokerAgent | null>;
}

/** One finished call to a provider, however it ended. Tokens are null where the provider told nothing. */
export interface LlmCall {
  readonly id: string;
  readonly agentId: string;
  readonly accountId: string;
  readonly provider: string;
  readonly model: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** HTTP status of the provider's answer, or null when none came. */
  readonly status: number | null;
  readonly outcome: 'ok' | 'provider_error' | 'cancelled' | 'unreachable' | 'refused';
  /** Excludes cached tokens. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  /** Decimal USD, or null when the model has no known price. */
  readonly costUsd: string | null;
}

/** Where finished LLM calls are written. Resolves once the row is durable. */
export interface LlmCallSink {
  record(call: LlmCall): Promise<void>;
}

/** The `SecretBox` context of an agent's key for a provider. */
export function llmKeyContext(agentId: string, provider: string): string {
  return `llm_key:${agentId}:${provider}`;
}
