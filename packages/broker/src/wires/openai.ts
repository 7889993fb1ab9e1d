import type { Provider, TokenUsage } from '@lodge/engine/ports';
import type { CallErrorKind } from '../call-error.ts';
import { paths } from '../target.ts';
import { asObject, asTokens, defaultModel } from './wire.ts';
import type { Json, Wire } from './wire.ts';

/** OpenAI's chat completions (platform.openai.com/docs/api-reference/chat) and what others made of it. */
export const openai: Wire = {
  api: 'openai-completions',
  prefix: 'openai',
  path: paths['openai-completions'],
  providerPath: 'chat/completions',
  requestHeaders: [],
  defaultHeaders: {},
  credentials: (key) => ({ authorization: `Bearer ${key}` }),
  prepare,
  count,
  isUsageOnly: (event) => Array.isArray(event.choices) && event.choices.length === 0 && asObject(event.usage) !== null,
  isFailure: (reply) => asObject(reply.error) !== null,
  error: ({ kind, code, message }) => ({ error: { message, type: types[kind], param: null, code } }),
  models: () => ({
    object: 'list',
    data: [{ id: defaultModel, object: 'model', created: 0, owned_by: 'lodge' }],
  }),
};

const types: Readonly<Record<CallErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  not_found: 'invalid_request_error',
  too_large: 'invalid_request_error',
  rate_limit: 'rate_limit_error',
  server: 'server_error',
};

/** Providers that refuse `stream_options` (422) and stream usage without being asked, in a chunk that has choices. */
const tellsUsageUnasked = new Set(['mistral']);
/** Providers that refuse or ignore `max_completion_tokens`, the newer name of `max_tokens`. */
const knowsMaxTokensOnly = new Set(['mistral', 'deepseek', 'moonshot', 'together', 'zai', 'nvidia', 'qwen']);

/**
 * The guest does not know which provider it speaks to, so what only some of them understand is put into the words of the
 * one it is: OpenAI refuses `max_tokens` for its reasoning models; others refuse `max_completion_tokens`, `store`,
 * the role `developer` or `stream_options`.
 */
function prepare(body: Json, provider: Provider, model: string): { body: Json; hideUsage: boolean } {
  const prepared: Record<string, unknown> = { ...body, model };
  if (provider.id === 'openai') {
    rename(prepared, 'max_tokens', 'max_completion_tokens');
  } else {
    delete prepared.store;
    prepared.messages = withoutDeveloperRole(body.messages);
    if (knowsMaxTokensOnly.has(provider.id)) rename(prepared, 'max_completion_tokens', 'max_tokens');
  }
  if (body.stream !== true) return { body: prepared, hideUsage: false };
  if (tellsUsageUnasked.has(provider.id)) {
    delete prepared.stream_options;
    return { body: prepared, hideUsage: false };
  }
  const options = asObject(body.stream_options);
  prepared.stream_options = { ...options, include_usage: true };
  return { body: prepared, hideUsage: options?.include_usage !== true };
}

function rename(body: Record<string, unknown>, from: string, to: string): void {
  if (body[from] === undefined) return;
  body[to] ??= body[from];
  delete body[from];
}

function withoutDeveloperRole(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages;
  return messages.map((message: unknown) =>
    asObject(message)?.role === 'developer' ? { ...asObject(message), role: 'system' } : message,
  );
}

/**
 * `prompt_tokens` counts cached tokens in; OpenRouter's `cache_write_tokens` too. DeepSeek tells hits beside it, Moonshot
 * puts usage into the last choice, Groq into `x_groq`. xAI and Google leave reasoning out of `completion_tokens` but not
 * out of the total, and all bill it as output.
 */
function count(reply: Json, counts: TokenUsage): TokenUsage {
  const choice = Array.isArray(reply.choices) ? asObject(reply.choices[0]) : null;
  const usage = asObject(reply.usage) ?? asObject(choice?.usage) ?? asObject(asObject(reply.x_groq)?.usage);
  const prompt = asTokens(usage?.prompt_tokens);
  const completion = asTokens(usage?.completion_tokens);
  if (!usage || prompt === null || completion === null) return counts;
  const details = asObject(usage.prompt_tokens_details);
  const cacheRead =
    asTokens(details?.cached_tokens) ?? asTokens(usage.prompt_cache_hit_tokens) ?? asTokens(usage.cached_tokens);
  const cacheWrite = asTokens(details?.cache_write_tokens);
  const total = asTokens(usage.total_tokens) ?? 0;
  return {
    ...counts,
    inputTokens: Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    outputTokens: Math.max(completion, total - prompt),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
  };
}
