import { randomUUID } from 'node:crypto';
import { halves, piecesOf, textOf } from './text.ts';
import type { Frame, Reply, StubRequest, Usage, WireFormat } from './types.ts';

/** OpenAI's chat completions, as documented at platform.openai.com/docs/api-reference/chat. */
export const openai: WireFormat = {
  stream(request, reply, usage) {
    const wantsUsage = request.body?.stream_options?.include_usage === true && !reply.noUsage;
    const head = { ...headOf(request), object: 'chat.completion.chunk' };
    const frame = (more: object, paced: boolean): Frame => ({
      text: `data: ${JSON.stringify({ ...head, ...more })}\n\n`,
      paced,
    });
    const delta = (change: object, finish: string | null, paced: boolean): Frame =>
      frame(
        { choices: [{ index: 0, delta: change, finish_reason: finish }], ...(wantsUsage ? { usage: null } : {}) },
        paced,
      );
    const frames = [delta({ role: 'assistant', content: '' }, null, false)];
    if (reply.thinking !== undefined) frames.push(delta({ reasoning_content: reply.thinking }, null, true));
    for (const piece of piecesOf(reply)) frames.push(delta({ content: piece }, null, true));
    for (const [index, call] of (reply.toolCalls ?? []).entries()) {
      const begin = { index, id: callId(), type: 'function', function: { name: call.name, arguments: '' } };
      frames.push(delta({ tool_calls: [begin] }, null, true));
      for (const part of halves(JSON.stringify(call.arguments))) {
        frames.push(delta({ tool_calls: [{ index, function: { arguments: part } }] }, null, true));
      }
    }
    frames.push(delta({}, finishOf(reply), false));
    if (wantsUsage) frames.push(frame({ choices: [], usage: wireUsage(usage) }, false));
    frames.push({ text: 'data: [DONE]\n\n', paced: false });
    return frames;
  },

  json(request, reply, usage) {
    const calls = (reply.toolCalls ?? []).map((call) => ({
      id: callId(),
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }));
    const text = textOf(reply);
    const message = {
      role: 'assistant',
      content: calls.length > 0 && text === '' ? null : text,
      ...(reply.thinking === undefined ? {} : { reasoning_content: reply.thinking }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    return {
      ...headOf(request),
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: finishOf(reply), logprobs: null }],
      ...(reply.noUsage ? {} : { usage: wireUsage(usage) }),
    };
  },

  error: openaiError,

  refusal(request) {
    if (!Array.isArray(request.body?.messages)) {
      return { status: 400, message: "Missing required parameter: 'messages'." };
    }
    if (request.model === '') return { status: 400, message: 'you must provide a model parameter' };
    return null;
  },
};

export function openaiError(status: number, message: string | undefined): unknown {
  const known = errors[status] ?? { type: status < 500 ? 'invalid_request_error' : 'server_error', code: null };
  return { error: { message: message ?? known.message ?? `Status ${status}.`, ...kind(known) } };
}

interface KnownError {
  readonly type: string;
  readonly code: string | null;
  readonly message?: string;
}

const errors: Readonly<Record<number, KnownError>> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  404: { type: 'invalid_request_error', code: null, message: 'Invalid URL.' },
  429: { type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached for requests.' },
  500: { type: 'server_error', code: null, message: 'The server had an error while processing your request.' },
};

const kind = ({ type, code }: KnownError): object => ({ type, param: null, code });

function headOf(request: StubRequest): { id: string; created: number; model: string } {
  return {
    id: `chatcmpl-${randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
}

const callId = (): string => `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;

const finishOf = (reply: Reply): string => ((reply.toolCalls ?? []).length > 0 ? 'tool_calls' : 'stop');

/** OpenAI counts cached tokens in `prompt_tokens` too. It has no figure for cache writes. */
function wireUsage(usage: Usage): object {
  const prompt = usage.input + (usage.cacheRead ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0, audio_tokens: 0 },
  };
}
