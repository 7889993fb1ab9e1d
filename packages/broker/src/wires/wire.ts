import type { Json } from '@lodge/domain';
import type { LlmApi, Provider, TokenUsage } from '@lodge/ports';
import type { CallError } from '../call/call-error.ts';
import type { JsonBody } from '../json/body.ts';
import type { Billing } from './billing.ts';

export const noTokens: TokenUsage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  cacheWriteLongTokens: null,
  reasoningTokens: null,
  imageTokens: null,
};

/** The operation that a guest's path and query ask for. */
export interface Asked {
  /** Counting tokens costs nothing and is no call of the model. */
  readonly action: 'generate' | 'count';
  /** Model and manner where the path says them; else the body does. */
  readonly model?: string;
  readonly stream?: boolean;
}

/** The differences between the APIs that guests and providers use. */
export interface Wire {
  readonly api: LlmApi;
  /** Guest-facing path of a call, for people. */
  readonly path: string;
  /** The operation of a POST to this path; null when it is none of this API's. */
  ask(path: string, query: URLSearchParams): Asked | null;
  /** Appended to a provider's base URL. */
  providerPath(model: string, asked: Asked): string;
  /** Request headers that a guest may set, lower case. */
  readonly requestHeaders: readonly string[];
  /** Headers every request to a provider has unless the guest set them. */
  readonly defaultHeaders: Readonly<Record<string, string>>;
  /** Edits the body for this provider and model. `hideUsage`: the reply will hold a usage event that the guest did not ask for. */
  prepare(body: JsonBody, provider: Provider, model: string): { readonly hideUsage: boolean };
  /** Where a body says what the call may cost. */
  readonly billing: Billing;
  /** The counts after one more reply or stream event. */
  count(reply: Json, counts: TokenUsage): TokenUsage;
  /** True for a reply or stream event whose counts are those of everything up to it. */
  countsAll(reply: Json): boolean;
  /** The part of a reply or stream event that the model said; absent where it says nothing. */
  said(reply: Json): unknown;
  /** True for data of a stream after which nothing but its end comes. */
  isLast(data: string, event: Json | null): boolean;
  /** True for a stream event that exists only because usage was asked for. */
  isUsageOnly(event: Json): boolean;
  /** True for a reply or stream event by which the provider says that the call failed. */
  isFailure(reply: Json): boolean;
  error(error: CallError): Json;
}

/** Name of the model that means "the agent's own" in a guest's configuration. */
export const defaultModel = 'default';
