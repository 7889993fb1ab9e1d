import type { LlmApi, Provider, TokenUsage } from '@lodge/engine/ports';
import type { CallError } from '../call-error.ts';

/** A JSON object that came from outside: nothing is known of its fields. */
export type Json = Readonly<Record<string, unknown>>;

export const noTokens: TokenUsage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  cacheWriteLongTokens: null,
  reasoningTokens: null,
  imageTokens: null,
};

/** What is different between the APIs that guests and providers speak. */
export interface Wire {
  readonly api: LlmApi;
  /** First path segment of the guest-facing URLs of this wire. */
  readonly prefix: string;
  /** Guest-facing path of the one call there is. */
  readonly path: string;
  /** Appended to a provider's base URL. */
  readonly providerPath: string;
  /** Request headers that a guest may set, lower case. */
  readonly requestHeaders: readonly string[];
  /** Headers every request to a provider has unless the guest set them. */
  readonly defaultHeaders: Readonly<Record<string, string>>;
  credentials(key: string): Readonly<Record<string, string>>;
  /** The request for this provider and model. `hideUsage`: the reply holds a usage event that the guest did not ask for. */
  prepare(body: Json, provider: Provider, model: string): { readonly body: Json; readonly hideUsage: boolean };
  /** The counts after one more reply or stream event. */
  count(reply: Json, counts: TokenUsage): TokenUsage;
  /** True for a stream event that exists only because usage was asked for. */
  isUsageOnly(event: Json): boolean;
  /** True for a reply or stream event by which the provider says that the call failed. */
  isFailure(reply: Json): boolean;
  error(error: CallError): Json;
  /** The models a guest may list: the one that stands for the agent's own. */
  models(): Json;
}

/** Name of the model that means "the agent's own" in a guest's configuration. */
export const defaultModel = 'default';

export function asObject(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

/** A token count, or null when the field is absent or is none. */
export function asTokens(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
