import { randomUUID } from 'node:crypto';
import { openaiError } from './openai.ts';
import { halves, piecesOf, textOf } from './text.ts';
import type { Frame, Reply, StubRequest, Usage, WireFormat } from './types.ts';

/** OpenAI's responses, as documented at platform.openai.com/docs/api-reference/responses and …/responses-streaming. */
export const responses: WireFormat = {
  stream(request, reply, usage) {
    const head = headOf(request);
    const events = new Events();
    events.push('response.created', { response: { ...head, status: 'in_progress', output: [], usage: null } });
    events.push('response.in_progress', { response: { ...head, status: 'in_progress', output: [], usage: null } });
    const output = itemsOf(reply);
    for (const [index, item] of output.entries()) events.item(index, item, reply);
    const response = { ...head, status: 'completed', output, usage: reply.noUsage ? null : wireUsage(usage) };
    events.push('response.completed', { response });
    return events.frames;
  },

  json(request, reply, usage) {
    const reported = reply.noUsage ? null : wireUsage(usage);
    return { ...headOf(request), status: 'completed', output: itemsOf(reply), usage: reported };
  },

  error: openaiError,

  refusal(request) {
    if (request.body?.input === undefined) return { status: 400, message: "Missing required parameter: 'input'." };
    if (request.model === '') return { status: 400, message: "Missing required parameter: 'model'." };
    return null;
  },
};

type Item = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };

class Events {
  readonly frames: Frame[] = [];

  push(type: string, fields: object, paced = false): void {
    const event = { type, sequence_number: this.frames.length, ...fields };
    this.frames.push({ text: `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`, paced });
  }

  item(index: number, item: Item, reply: Reply): void {
    const at = { item_id: item.id, output_index: index };
    const empty = { message: { content: [] }, reasoning: { summary: [] }, function_call: { arguments: '' } }[item.type];
    const begun = { ...item, ...empty, status: 'in_progress' };
    this.push('response.output_item.added', { output_index: index, item: begun });
    if (item.type === 'message') this.#text(at, reply);
    if (item.type === 'reasoning') {
      const part = { ...at, summary_index: 0 };
      this.push('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
      this.push('response.reasoning_summary_text.delta', { ...part, delta: reply.thinking }, true);
      this.push('response.reasoning_summary_text.done', { ...part, text: reply.thinking });
      this.push('response.reasoning_summary_part.done', {
        ...part,
        part: { type: 'summary_text', text: reply.thinking },
      });
    }
    if (item.type === 'function_call') {
      const parts = halves(String(item['arguments']));
      for (const delta of parts) this.push('response.function_call_arguments.delta', { ...at, delta }, true);
      this.push('response.function_call_arguments.done', { ...at, name: item['name'], arguments: item['arguments'] });
    }
    this.push('response.output_item.done', { output_index: index, item });
  }

  #text(at: object, reply: Reply): void {
    const part = { ...at, content_index: 0 };
    const text = textOf(reply);
    this.push('response.content_part.added', { ...part, part: textPart('') });
    for (const delta of piecesOf(reply))
      this.push('response.output_text.delta', { ...part, delta, logprobs: [] }, true);
    this.push('response.output_text.done', { ...part, text, logprobs: [] });
    this.push('response.content_part.done', { ...part, part: textPart(text) });
  }
}

const textPart = (text: string): object => ({ type: 'output_text', text, annotations: [], logprobs: [] });

function itemsOf(reply: Reply): Item[] {
  const items: Item[] = [];
  if (reply.thinking !== undefined) {
    items.push({
      id: `rs_${randomUUID()}`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: reply.thinking }],
    });
  }
  const text = textOf(reply);
  const calls = reply.toolCalls ?? [];
  if (text !== '' || calls.length === 0) {
    const content = [textPart(text)];
    items.push({ id: `msg_${randomUUID()}`, type: 'message', status: 'completed', role: 'assistant', content });
  }
  for (const call of calls) {
    items.push({
      id: `fc_${randomUUID()}`,
      type: 'function_call',
      status: 'completed',
      call_id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
      name: call.name,
      arguments: JSON.stringify(call.arguments),
    });
  }
  return items;
}

function headOf({ body, model }: StubRequest): object {
  return {
    id: `resp_${randomUUID().replaceAll('-', '')}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body?.instructions ?? null,
    max_output_tokens: body?.max_output_tokens ?? null,
    model,
    parallel_tool_calls: true,
    previous_response_id: body?.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    store: body?.store ?? true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: body?.tool_choice ?? 'auto',
    tools: body?.tools ?? [],
    top_p: 1,
    truncation: 'disabled',
    user: null,
    metadata: {},
  };
}

/** Counts cached tokens in `input_tokens`, reasoning in `output_tokens`. */
function wireUsage(usage: Usage): object {
  const input = usage.input + (usage.cacheRead ?? 0);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: input + usage.output,
  };
}
