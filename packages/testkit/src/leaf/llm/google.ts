import { randomUUID } from 'node:crypto';
import { piecesOf, textOf } from './text.ts';
import type { Frame, Reply, StubRequest, Usage, WireFormat } from './types.ts';

/** Google's generateContent, as documented at ai.google.dev/api/generate-content; streamed with `alt=sse`. */
export const google: WireFormat = {
  stream(request, reply, usage) {
    const head = headOf(request);
    const frames: Frame[] = [];
    const push = (parts: readonly object[], said: number, finish: string | null): void => {
      const chunk = { candidates: [candidate(parts, finish)], ...usagePart(reply, usage, said), ...head };
      frames.push({ text: `data: ${JSON.stringify(chunk)}\r\n\r\n`, paced: parts.length > 0 });
    };
    const parts = [...thoughts(reply), ...piecesOf(reply).map((text) => ({ text })), ...calls(reply)];
    for (const [index, part] of parts.entries()) {
      const last = index === parts.length - 1;
      // Counts run along with the stream; those of its last chunk hold.
      push([part], last ? usage.output : Math.floor((usage.output * index) / parts.length), last ? 'STOP' : null);
    }
    if (parts.length === 0) push([], usage.output, 'STOP');
    return frames;
  },

  json(request, reply, usage) {
    const text = textOf(reply);
    const parts = [...thoughts(reply), ...(text === '' ? [] : [{ text }]), ...calls(reply)];
    return { candidates: [candidate(parts, 'STOP')], ...usagePart(reply, usage, usage.output), ...headOf(request) };
  },

  error(status, message) {
    const [name, usual] = errors[status] ?? (status < 500 ? errors[400]! : errors[500]!);
    const details =
      status === 400 && message === undefined
        ? [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' }]
        : [];
    return { error: { code: status, message: message ?? usual, status: name, details } };
  },

  refusal(request) {
    if (!Array.isArray(request.body?.contents)) return { status: 400, message: 'contents is not specified' };
    return null;
  },

  /** A wrong key is no 401 here. */
  wrongKeyStatus: 400,
};

const errors: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'],
  401: ['UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  403: ['PERMISSION_DENIED', 'The caller does not have permission'],
  404: ['NOT_FOUND', 'Requested entity was not found.'],
  429: ['RESOURCE_EXHAUSTED', 'You exceeded your current quota.'],
  500: ['INTERNAL', 'An internal error has occurred.'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
};

const headOf = ({ model }: StubRequest): object => ({ modelVersion: model, responseId: randomUUID() });

function candidate(parts: readonly object[], finishReason: string | null): object {
  return { content: { parts, role: 'model' }, ...(finishReason !== null && { finishReason }), index: 0 };
}

const thoughts = ({ thinking }: Reply): object[] =>
  thinking === undefined ? [] : [{ text: thinking, thought: true, thoughtSignature: 'c2lnbmF0dXJl' }];

const calls = ({ toolCalls = [] }: Reply): object[] =>
  toolCalls.map(({ name, arguments: args }) => ({ functionCall: { name, args } }));

/** Counts cached tokens in `promptTokenCount`, thoughts beside `candidatesTokenCount`. */
function usagePart(reply: Reply, usage: Usage, said: number): object {
  if (reply.noUsage) return {};
  const promptTokenCount = usage.input + (usage.cacheRead ?? 0);
  const thoughtsTokenCount = Math.min(usage.reasoning ?? 0, said);
  return {
    usageMetadata: {
      promptTokenCount,
      candidatesTokenCount: said - thoughtsTokenCount,
      totalTokenCount: promptTokenCount + said,
      ...(usage.cacheRead !== undefined && { cachedContentTokenCount: usage.cacheRead }),
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokenCount }],
      ...(thoughtsTokenCount > 0 && { thoughtsTokenCount }),
    },
  };
}
