import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { Provider, TokenUsage } from '@lodge/ports';
import type { JsonBody } from '../json/body.ts';
import { asList, asTokens } from '../json/values.ts';
import type { Wire } from './wire.ts';
import type { CallError, CallErrorKind } from '../call/call-error.ts';

/** Fields by which OpenRouter and gateways choose models, their hosts, or tools of their own. */
export const routing: readonly string[] = ['models', 'route', 'provider', 'plugins', 'preset', 'fallbacks'];

/** OpenAI's chat completions (platform.openai.com/docs/api-reference/chat) and what others made of it. */
export const openai: Wire = {
  api: 'openai-completions',
  path: '/openai/v1/chat/completions',
  ask: (path) => (path === openai.path ? { action: 'generate' } : null),
  providerPath: () => 'chat/completions',
  requestHeaders: [],
  defaultHeaders: {},
  prepare,
  billing: {
    bounds: ['max_completion_tokens', 'max_tokens'],
    answers: ['n', 'best_of'],
    plainValues: { service_tier: ['auto', 'default', 'standard', 'flex', 'on_demand'] },
    unpriced: [
      // OpenAI's search, xAI's, Qwen's, Groq's and others'.
      'web_search_options',
      'search_parameters',
      'enable_search',
      'search_options',
      'search_settings',
      'web_search',
      'compound_custom',
      'mcp_servers',
      // xAI's answer that is fetched later, with nobody to count it.
      'deferred',
      // Sound costs more than words.
      'audio',
      ...routing,
    ],
    runsWithGuest: ({ type }) => type === 'function' || type === 'custom',
  },
  count,
  countsAll: (reply) => usageOf(reply) !== null,
  said: (reply) => asList(reply.choices).map((choice) => asObject(choice)?.delta ?? asObject(choice)?.message),
  isLast: (data) => data.trim() === '[DONE]',
  isUsageOnly: (event) => Array.isArray(event.choices) && event.choices.length === 0 && asObject(event.usage) !== null,
  isFailure: (reply) => asObject(reply.error) !== null,
  error: openaiError,
};

const isOpenai = new Set(['openai', 'azure-openai']);
/** Providers that refuse `stream_options` and stream usage without being asked, in a chunk that has choices. */
const tellsUsageUnasked = new Set(['mistral', 'cohere', 'perplexity']);
/** Providers that refuse or ignore `max_completion_tokens`, the newer name of `max_tokens`. */
const knowsMaxTokensOnly = new Set([
  'mistral',
  'deepseek',
  'moonshot',
  'together',
  'zai',
  'nvidia',
  'qwen',
  'cohere',
  'perplexity',
]);

/**
 * The guest does not know which provider it speaks to, so what only some of them understand is put into the words of the
 * one it is: OpenAI refuses `max_tokens` for its reasoning models; others refuse `max_completion_tokens`, `store`,
 * the role `developer` or `stream_options`.
 */
function prepare(body: JsonBody, provider: Provider, model: string): { hideUsage: boolean } {
  body.set('model', model);
  if (isOpenai.has(provider.id)) {
    body.rename('max_tokens', 'max_completion_tokens');
  } else {
    body.remove('store');
    for (const { start, end } of body.developerRoles) body.splice(start, end, '"system"');
    if (knowsMaxTokensOnly.has(provider.id)) body.rename('max_completion_tokens', 'max_tokens');
  }
  if (body.value('stream') !== true) return { hideUsage: false };
  if (tellsUsageUnasked.has(provider.id)) {
    body.remove('stream_options');
    return { hideUsage: false };
  }
  const options = body.object('stream_options');
  if (options?.value('include_usage') === true) return { hideUsage: false };
  if (options) {
    options.set('include_usage', true);
    body.setObject('stream_options', options);
  } else {
    body.set('stream_options', { include_usage: true });
  }
  return { hideUsage: true };
}

/**
 * `prompt_tokens` counts cached tokens in; OpenRouter's `cache_write_tokens` too. DeepSeek tells hits beside it, Moonshot
 * puts usage into the last choice, Groq into `x_groq`. xAI and Google leave reasoning out of `completion_tokens` but not
 * out of the total, and all bill it as output.
 */
function count(reply: Json, counts: TokenUsage): TokenUsage {
  const usage = usageOf(reply);
  if (!usage) return counts;
  const prompt = asTokens(usage.prompt_tokens)!;
  const completion = asTokens(usage.completion_tokens)!;
  const details = asObject(usage.prompt_tokens_details);
  const outputDetails = asObject(usage.completion_tokens_details);
  const cacheRead =
    asTokens(details?.cached_tokens) ?? asTokens(usage.prompt_cache_hit_tokens) ?? asTokens(usage.cached_tokens);
  const cacheWrite = asTokens(details?.cache_write_tokens);
  const total = asTokens(usage.total_tokens) ?? 0;
  return {
    inputTokens: Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    outputTokens: Math.max(completion, total - prompt),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    cacheWriteLongTokens: null,
    reasoningTokens: asTokens(outputDetails?.reasoning_tokens) ?? asTokens(usage.reasoning_tokens),
    imageTokens: asTokens(outputDetails?.image_tokens),
  };
}

function usageOf(reply: Json): Json | null {
  const choice = asObject(asList(reply.choices)[0]);
  const usage = asObject(reply.usage) ?? asObject(choice?.usage) ?? asObject(asObject(reply.x_groq)?.usage);
  return asTokens(usage?.prompt_tokens) === null || asTokens(usage?.completion_tokens) === null ? null : usage;
}

const types: Readonly<Record<CallErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  not_found: 'invalid_request_error',
  too_large: 'invalid_request_error',
  rate_limit: 'rate_limit_error',
  server: 'server_error',
};

/** An error as OpenAI's APIs give it. */
export function openaiError({ kind, code, message }: CallError): Json {
  return { error: { message, type: types[kind], param: null, code } };
}
