import { randomUUID } from 'node:crypto';
import { halves, piecesOf, textOf } from './text.ts';
import type { Frame, Reply, StubRequest, Usage, WireFormat } from './types.ts';

/** Anthropic's messages, as documented at docs.anthropic.com/en/api/messages and …/messages-streaming. */
export const anthropic: WireFormat = {
  stream(request, reply, usage) {
    const frames: Frame[] = [];
    const push = (event: { type: string } & Record<string, unknown>, paced = false): void => {
      frames.push({ text: `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, paced });
    };
    let index = 0;
    const block = (start: object, deltas: readonly object[]): void => {
      push({ type: 'content_block_start', index, content_block: start });
      for (const delta of deltas) push({ type: 'content_block_delta', index, delta }, true);
      push({ type: 'content_block_stop', index });
      index++;
    };
    const message = { ...headOf(request), content: [], stop_reason: null, stop_sequence: null };
    const begun = reply.noUsage ? {} : { usage: { ...wireUsage(usage), output_tokens: 1 } };
    push({ type: 'message_start', message: { ...message, ...begun } });
    push({ type: 'ping' });
    if (reply.thinking !== undefined) {
      block({ type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: reply.thinking },
        { type: 'signature_delta', signature: thoughtSignature },
      ]);
    }
    const pieces = piecesOf(reply);
    if (pieces.length > 0) {
      const deltas = pieces.map((text) => ({ type: 'text_delta', text }));
      block({ type: 'text', text: '' }, deltas);
    }
    for (const call of reply.toolCalls ?? []) {
      const parts = halves(JSON.stringify(call.arguments));
      const deltas = parts.map((part) => ({ type: 'input_json_delta', partial_json: part }));
      block({ type: 'tool_use', id: callId(), name: call.name, input: {} }, deltas);
    }
    const end = { stop_reason: stopOf(reply), stop_sequence: null };
    push({ type: 'message_delta', delta: end, ...(reply.noUsage ? {} : { usage: { output_tokens: usage.output } }) });
    push({ type: 'message_stop' });
    return frames;
  },

  json(request, reply, usage) {
    const text = textOf(reply);
    const content: object[] = [];
    if (reply.thinking !== undefined) {
      content.push({ type: 'thinking', thinking: reply.thinking, signature: thoughtSignature });
    }
    if (text !== '') content.push({ type: 'text', text });
    for (const call of reply.toolCalls ?? []) {
      content.push({ type: 'tool_use', id: callId(), name: call.name, input: call.arguments });
    }
    return {
      ...headOf(request),
      content,
      stop_reason: stopOf(reply),
      stop_sequence: null,
      ...(reply.noUsage ? {} : { usage: wireUsage(usage) }),
    };
  },

  error(status, message) {
    const [type, usual] = errors[status] ?? (status < 500 ? errors[400]! : errors[500]!);
    return { type: 'error', error: { type, message: message ?? usual }, request_id: `req_${randomUUID()}` };
  },

  refusal(request) {
    if (request.headers['anthropic-version'] === undefined) {
      return { status: 400, message: 'anthropic-version: header is required' };
    }
    if (!Array.isArray(request.body?.messages)) return { status: 400, message: 'messages: Field required' };
    if (request.model === '') return { status: 400, message: 'model: Field required' };
    return null;
  },
};

const thoughtSignature = 'EqQBCkYIBhgCKkDexample';

const errors: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['invalid_request_error', 'Invalid request.'],
  401: ['authentication_error', 'invalid x-api-key'],
  403: ['permission_error', 'Not allowed.'],
  404: ['not_found_error', 'Not found.'],
  413: ['request_too_large', 'Request exceeds the maximum size.'],
  429: ['rate_limit_error', 'This request would exceed your rate limit.'],
  500: ['api_error', 'Internal server error'],
  529: ['overloaded_error', 'Overloaded'],
};

function headOf(request: StubRequest): object {
  return { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model: request.model };
}

const callId = (): string => `toolu_${randomUUID().replaceAll('-', '').slice(0, 24)}`;

const stopOf = (reply: Reply): string => ((reply.toolCalls ?? []).length > 0 ? 'tool_use' : 'end_turn');

/** Anthropic counts cached tokens beside `input_tokens`. */
function wireUsage(usage: Usage): object {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
    cache_read_input_tokens: usage.cacheRead ?? 0,
    output_tokens: usage.output,
  };
}
