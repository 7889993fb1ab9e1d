import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { Provider, TokenUsage } from '@lodge/ports';
import { invalidRequest } from '../call/call-error.ts';
import type { JsonBody } from '../json/body.ts';
import { openaiError, routing } from './openai.ts';
import { asList, asTokens } from '../json/values.ts';
import type { Wire } from './wire.ts';

/** OpenAI's responses (platform.openai.com/docs/api-reference/responses): only making one; those that are stored stay shut. */
export const openaiResponses: Wire = {
  api: 'openai-responses',
  path: '/openai/v1/responses',
  ask: (path) => (path === openaiResponses.path ? { action: 'generate' } : null),
  providerPath: () => 'responses',
  requestHeaders: [],
  defaultHeaders: {},
  prepare,
  billing: {
    bounds: ['max_output_tokens'],
    answers: [],
    plainValues: { service_tier: ['auto', 'default', 'flex'] },
    // Contents that are stored at the provider are read again with each call, and a template may hold tools.
    unpriced: ['prompt', 'conversation', 'previous_response_id', ...routing],
    runsWithGuest: ({ type }) => type !== null && guestTools.has(type),
  },
  count,
  countsAll: (reply) => asObject(responseOf(reply).usage) !== null,
  said: (reply) => {
    if (typeof reply.type !== 'string') return reply.output;
    return reply.type.endsWith('.delta') ? reply.delta : undefined;
  },
  isLast: (_data, event) => event !== null && ends.has(event.type),
  isUsageOnly: () => false,
  isFailure: (reply) =>
    reply.type === 'error' || responseOf(reply).status === 'failed' || asObject(responseOf(reply).error) !== null,
  error: openaiError,
};

const guestTools = new Set(['function', 'custom', 'local_shell', 'apply_patch', 'computer', 'computer_use_preview']);

const ends = new Set<unknown>(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/** A stream's event has the response within. */
const responseOf = (reply: Json): Json => asObject(reply.response) ?? reply;

function prepare(body: JsonBody, _provider: Provider, model: string): { hideUsage: boolean } {
  if (body.says('background')) {
    // It would go on at the provider with nobody to count it.
    throw invalidRequest('unsupported_parameter', 'background is not available: responses are made while you wait.');
  }
  body.set('model', model);
  return { hideUsage: false };
}

/** `input_tokens` counts cached tokens in, `output_tokens` reasoning. */
function count(reply: Json, counts: TokenUsage): TokenUsage {
  const response = responseOf(reply);
  const usage = asObject(response.usage);
  const input = asTokens(usage?.input_tokens);
  const output = asTokens(usage?.output_tokens);
  if (!usage || input === null || output === null) return counts;
  const inputDetails = asObject(usage.input_tokens_details);
  const outputDetails = asObject(usage.output_tokens_details);
  const cacheRead = asTokens(inputDetails?.cached_tokens);
  const cacheWrite = asTokens(inputDetails?.cache_write_tokens);
  return {
    inputTokens: Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    cacheWriteLongTokens: null,
    reasoningTokens: asTokens(outputDetails?.reasoning_tokens),
    imageTokens: asTokens(outputDetails?.image_tokens) ?? madeImages(response),
  };
}

/** Tokens of images that a tool made within the response, where each tells its own. */
function madeImages(response: Json): number | null {
  const tokensOfImages = asList(response.output).flatMap((item) => {
    const made = asObject(item);
    const tokens = asTokens(asObject(made?.usage)?.output_tokens);
    return made?.type === 'image_generation_call' && tokens !== null ? [tokens] : [];
  });
  return tokensOfImages.length === 0 ? null : tokensOfImages.reduce((sum, tokens) => sum + tokens, 0);
}
