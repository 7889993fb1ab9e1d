import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { TokenUsage } from '@lodge/ports';
import type { CallErrorKind } from '../call/call-error.ts';
import { asTokens } from '../json/values.ts';
import type { Wire } from './wire.ts';

/** Anthropic's messages (docs.anthropic.com/en/api/messages). */
export const anthropic: Wire = {
  api: 'anthropic-messages',
  path: '/anthropic/v1/messages',
  ask(path) {
    if (path === anthropic.path) return { action: 'generate' };
    return path === `${anthropic.path}/count_tokens` ? { action: 'count' } : null;
  },
  providerPath: (_model, { action }) => (action === 'count' ? 'messages/count_tokens' : 'messages'),
  requestHeaders: ['anthropic-version', 'anthropic-beta'],
  defaultHeaders: { 'anthropic-version': '2023-06-01' },
  prepare(body, _provider, model) {
    body.set('model', model);
    return { hideUsage: false };
  },
  billing: {
    bounds: ['max_tokens'],
    answers: [],
    plainValues: {
      service_tier: ['auto', 'standard', 'standard_only'],
      speed: ['standard'],
      inference_geo: ['global'],
    },
    unpriced: ['mcp_servers', 'container'],
    runsWithGuest: ({ type }) => type === null || /^(?:custom|(?:bash|text_editor|computer|memory)_\d+)$/.test(type),
  },
  count,
  countsAll: (reply) => asObject(reply.usage) !== null && (reply.type === 'message' || reply.type === 'message_delta'),
  said: (reply) => (reply.type === 'content_block_delta' ? reply.delta : reply.content),
  isLast: (_data, event) => event !== null && (event.type === 'message_stop' || event.type === 'error'),
  isUsageOnly: () => false,
  isFailure: (reply) => reply.type === 'error',
  error: ({ kind, status, message }) => ({
    type: 'error',
    error: { type: status === 504 ? 'timeout_error' : types[kind], message },
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
  const long = asTokens(asObject(usage.cache_creation)?.ephemeral_1h_input_tokens);
  return {
    ...counts,
    inputTokens: asTokens(usage.input_tokens) ?? counts.inputTokens,
    outputTokens: asTokens(usage.output_tokens) ?? counts.outputTokens,
    cacheReadTokens: asTokens(usage.cache_read_input_tokens) ?? counts.cacheReadTokens,
    cacheWriteTokens: asTokens(usage.cache_creation_input_tokens) ?? counts.cacheWriteTokens,
    cacheWriteLongTokens: long ?? counts.cacheWriteLongTokens,
  };
}
