import type { TokenUsage } from '@lodge/engine/ports';
import type { CallErrorKind } from '../call-error.ts';
import { paths } from '../target.ts';
import { asObject, asTokens, defaultModel } from './wire.ts';
import type { Json, Wire } from './wire.ts';

/** Anthropic's messages (docs.anthropic.com/en/api/messages). */
export const anthropic: Wire = {
  api: 'anthropic-messages',
  prefix: 'anthropic',
  path: paths['anthropic-messages'],
  providerPath: 'messages',
  requestHeaders: ['anthropic-version', 'anthropic-beta'],
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  credentials: (key) => ({ 'x-api-key': key }),
  prepare: (body, _provider, model) => ({ body: { ...body, model }, hideUsage: false }),
  count,
  isUsageOnly: () => false,
  isFailure: (reply) => reply.type === 'error',
  error: ({ kind, status, message }) => ({
    type: 'error',
    error: { type: status === 504 ? 'timeout_error' : types[kind], message },
  }),
  models: () => ({
    data: [{ type: 'model', id: defaultModel, display_name: defaultModel, created_at: '1970-01-01T00:00:00Z' }],
    has_more: false,
    first_id: defaultModel,
    last_id: defaultModel,
  }),
};

const types: Readonly<Record<CallErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  not_found: 'not_found_error',
  too_large: 'request_too_large',
  rate_limit: 'rate_limit_error',
  server: 'api_error',
};

/**
 * A reply has `usage`; a stream has it in `message_start` and, cumulative, in `message_delta`, where a field that is
 * absent has not changed. `input_tokens` leaves cached tokens out.
 */
function count(reply: Json, counts: TokenUsage): TokenUsage {
  const usage = asObject(reply.usage) ?? asObject(asObject(reply.message)?.usage);
  if (!usage) return counts;
  return {
    ...counts,
    inputTokens: asTokens(usage.input_tokens) ?? counts.inputTokens,
    outputTokens: asTokens(usage.output_tokens) ?? counts.outputTokens,
    cacheReadTokens: asTokens(usage.cache_read_input_tokens) ?? counts.cacheReadTokens,
    cacheWriteTokens: asTokens(usage.cache_creation_input_tokens) ?? counts.cacheWriteTokens,
  };
}
