import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { TokenUsage } from '@lodge/ports';
import { invalidRequest } from '../call/call-error.ts';
import type { CallErrorKind } from '../call/call-error.ts';
import { asList, asTokens } from '../json/values.ts';
import type { Asked, Wire } from './wire.ts';

const prefix = '/google/v1beta/models/';
const methods: Readonly<Record<string, Omit<Asked, 'model'>>> = {
  generateContent: { action: 'generate', stream: false },
  streamGenerateContent: { action: 'generate', stream: true },
  countTokens: { action: 'count', stream: false },
};

/** Google takes each name in two spellings. */
const inConfig = (...names: readonly string[]): string[] =>
  ['generationConfig', 'generation_config'].flatMap((config) => names.map((name) => `${config}.${name}`));
const plainTiers = ['standard', 'STANDARD', 'flex', 'FLEX', 'unspecified', 'SERVICE_TIER_UNSPECIFIED'];
const guestTools = new Set(['functionDeclarations', 'function_declarations', 'computerUse', 'computer_use']);

/** Google's generateContent (ai.google.dev/api/generate-content). The model is in the path, so the body goes on as it is. */
export const google: Wire = {
  api: 'google-generative-ai',
  path: `${prefix}<model>:generateContent`,
  ask,
  providerPath(model, asked) {
    const [method] = Object.entries(methods).find(
      ([, { action, stream }]) => action === asked.action && stream === asked.stream,
    )!;
    return `models/${pathOf(model)}:${method}${asked.stream ? '?alt=sse' : ''}`;
  },
  requestHeaders: [],
  defaultHeaders: {},
  prepare: () => ({ hideUsage: false }),
  billing: {
    bounds: inConfig('maxOutputTokens', 'max_output_tokens'),
    answers: inConfig('candidateCount', 'candidate_count'),
    plainValues: { serviceTier: plainTiers, service_tier: plainTiers },
    unpriced: ['cachedContent', 'cached_content'],
    runsWithGuest: ({ keys }) => keys !== null && keys.every((key) => guestTools.has(key)),
  },
  count,
  // Its counts run along with the stream: before the end they are of the words so far.
  countsAll: (reply) => asTokens(asObject(reply.usageMetadata)?.promptTokenCount) !== null && !isUnderWay(reply),
  said: (reply) => candidatesOf(reply).map(({ content }) => content),
  isLast: (_data, event) => candidatesOf(event).some(({ finishReason }) => finishReason),
  isUsageOnly: () => false,
  isFailure: (reply) => asObject(reply.error) !== null,
  error: ({ kind, status, code, message }) => ({
    error: {
      code: status,
      message,
      status: status === 504 ? 'DEADLINE_EXCEEDED' : statuses[kind],
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code.toUpperCase(), domain: 'lodge' }],
    },
  }),
};

const candidatesOf = (reply: Json | null): readonly Json[] =>
  asList(reply?.candidates).map((candidate) => asObject(candidate) ?? {});

const isUnderWay = (reply: Json): boolean =>
  candidatesOf(reply).length > 0 && !candidatesOf(reply).some(({ finishReason }) => finishReason);

const statuses: Readonly<Record<CallErrorKind, string>> = {
  invalid_request: 'INVALID_ARGUMENT',
  authentication: 'UNAUTHENTICATED',
  permission: 'PERMISSION_DENIED',
  not_found: 'NOT_FOUND',
  too_large: 'INVALID_ARGUMENT',
  rate_limit: 'RESOURCE_EXHAUSTED',
  server: 'UNAVAILABLE',
};

/** A key in the query (`?key=`) is dropped like every credential of a guest. */
function ask(path: string, query: URLSearchParams): Asked | null {
  const match = /^\/google\/v1beta\/models\/([^/:]+):([A-Za-z]+)$/.exec(path);
  const method = match && Object.hasOwn(methods, match[2]!) ? methods[match[2]!]! : null;
  if (!match || !method) return null;
  for (const name of query.keys()) {
    if (name !== 'key' && name !== 'alt') throw invalidRequest('unknown_query', `The query may not hold ${name}.`);
  }
  const alt = query.getAll('alt').join();
  if (method.stream ? alt !== 'sse' : alt !== '' && alt !== 'json') {
    throw invalidRequest('unknown_query', 'A stream is asked for with ?alt=sse, and nothing else with alt.');
  }
  try {
    return { ...method, model: decodeURIComponent(match[1]!) };
  } catch {
    return null;
  }
}

/** A model's name as the part of a path that it is at the provider, which it must not leave. */
function pathOf(model: string): string {
  const parts = model.split('/');
  if (!parts.every((part) => /^[\w-][\w.-]*$/.test(part))) {
    throw invalidRequest('invalid_model', 'The name of this model is none that Google has.');
  }
  return parts.join('/');
}

/**
 * `promptTokenCount` counts cached tokens in, and the results of Google's own tools beside it; thoughts are billed as
 * output. A stream's counts are of all before them.
 */
function count(reply: Json, counts: TokenUsage): TokenUsage {
  const usage = asObject(reply.usageMetadata);
  const prompt = asTokens(usage?.promptTokenCount);
  if (!usage || prompt === null) return counts;
  const cacheRead = asTokens(usage.cachedContentTokenCount);
  const thoughts = asTokens(usage.thoughtsTokenCount);
  const images = asList(usage.candidatesTokensDetails)
    .map(asObject)
    .find((detail) => detail?.modality === 'IMAGE');
  return {
    inputTokens: Math.max(0, prompt - (cacheRead ?? 0)) + (asTokens(usage.toolUsePromptTokenCount) ?? 0),
    outputTokens: (asTokens(usage.candidatesTokenCount) ?? 0) + (thoughts ?? 0),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: null,
    cacheWriteLongTokens: null,
    reasoningTokens: thoughts,
    imageTokens: asTokens(images?.tokenCount),
  };
}
