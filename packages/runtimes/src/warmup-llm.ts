/**
 * The model a template is warmed up against: answers `pong` at once on OpenAI's chat completions and Anthropic's messages,
 * streamed or not, and asks for a few tool calls first when the prompt is `toolsPrompt`, so that a clone's first real tool
 * call finds its code loaded. It is no test double: templates are made with it, on machines without any provider account.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const textPrompt = 'Warm-up: answer pong.';
export const toolsPrompt = 'Warm-up: use your tools, then answer pong.';
export const warmupAnswer = 'pong';

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One list for each model call of a turn with tools, in the runtime's own names. */
export type ToolRounds = readonly (readonly ToolCall[])[];

/** Listens on any free port of `host`. `close` ends its connections. */
export async function startWarmupLlm(
  host: string,
  rounds: ToolRounds,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    serve(request, response, rounds).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Prompt {
  readonly messages: readonly { readonly role?: unknown; readonly content?: unknown; readonly tool_calls?: unknown }[];
  readonly model: string;
  readonly stream: boolean;
}

const mostBodyBytes = 8 * 1024 * 1024;

async function serve(request: IncomingMessage, response: ServerResponse, rounds: ToolRounds): Promise<void> {
  const wire = request.url?.endsWith('/chat/completions')
    ? openai
    : request.url?.endsWith('/messages')
      ? anthropic
      : null;
  if (request.method !== 'POST' || wire === null) {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no such path"}}');
    return;
  }
  const prompt = await readPrompt(request);
  if (prompt === null) {
    response
      .writeHead(400, { 'content-type': 'application/json' })
      .end('{"error":{"message":"not a chat","type":"invalid_request_error"}}');
    return;
  }
  const calls = nextCalls(prompt, rounds);
  if (prompt.stream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(wire.stream(prompt.model, calls));
  } else {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wire.reply(prompt.model, calls)));
  }
}

async function readPrompt(request: IncomingMessage): Promise<Prompt | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBodyBytes) return null;
    chunks.push(chunk);
  }
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
    const { messages, model, stream } = body;
    if (!Array.isArray(messages)) return null;
    return { messages, model: typeof model === 'string' ? model : 'default', stream: stream === true };
  } catch {
    return null;
  }
}

/** Tool calls to ask for now; empty when it is time for the answer. */
function nextCalls({ messages }: Prompt, rounds: ToolRounds): readonly ToolCall[] {
  const mentions = (content: unknown): boolean => JSON.stringify(content ?? null).includes(toolsPrompt);
  if (!messages.some(({ role, content }) => role === 'user' && mentions(content))) return [];
  const answered = messages.filter(({ role }) => role === 'assistant').length;
  return rounds[answered] ?? [];
}

interface Wire {
  reply(model: string, calls: readonly ToolCall[]): object;
  /** The whole event stream: nobody waits between its events. */
  stream(model: string, calls: readonly ToolCall[]): string;
}

const openai: Wire = {
  reply(model, calls) {
    const message =
      calls.length === 0
        ? { role: 'assistant', content: warmupAnswer }
        : { role: 'assistant', content: null, tool_calls: calls.map(openaiCall) };
    const choices = [{ index: 0, message, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }];
    return { ...openaiHead(model), object: 'chat.completion', choices, usage: openaiUsage };
  },
  stream(model, calls) {
    const head = { ...openaiHead(model), object: 'chat.completion.chunk' };
    const delta =
      calls.length === 0
        ? { role: 'assistant', content: warmupAnswer }
        : { role: 'assistant', tool_calls: calls.map((call, index) => ({ index, ...openaiCall(call, index) })) };
    const finish = calls.length === 0 ? 'stop' : 'tool_calls';
    const chunks = [
      { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      { ...head, choices: [], usage: openaiUsage },
    ];
    return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join('');
  },
};

const openaiHead = (model: string): object => ({ id: 'chatcmpl-warmup', created: 0, model });
const openaiUsage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const openaiCall = ({ name, args }: ToolCall, index: number): object => ({
  id: `call_${name}_${index}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

const anthropic: Wire = {
  reply(model, calls) {
    const text = [{ type: 'text', text: warmupAnswer }];
    const content = calls.length === 0 ? text : calls.map(anthropicCall);
    return { ...anthropicHead(model), content, stop_reason: stopReason(calls), usage: anthropicUsage };
  },
  stream(model, calls) {
    const blocks = calls.length === 0 ? [textBlock] : calls.map(callBlock);
    const events = [
      { type: 'message_start', message: { ...anthropicHead(model), content: [], usage: anthropicUsage } },
      ...blocks.flatMap((block, index) => block(index)),
      { type: 'message_delta', delta: { stop_reason: stopReason(calls) }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  },
};

interface StreamEvent {
  readonly type: string;
}

const anthropicHead = (model: string): object => ({ id: 'msg_warmup', type: 'message', role: 'assistant', model });
const anthropicUsage = { input_tokens: 1, output_tokens: 1 };
const stopReason = (calls: readonly ToolCall[]): string => (calls.length === 0 ? 'end_turn' : 'tool_use');
const anthropicCall = ({ name, args }: ToolCall, index: number): object => ({
  type: 'tool_use',
  id: `toolu_${name}_${index}`,
  name,
  input: args,
});

const textBlock = (index: number): StreamEvent[] =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: warmupAnswer });

const callBlock =
  (call: ToolCall) =>
  (index: number): StreamEvent[] =>
    block(
      index,
      { ...anthropicCall(call, index), input: {} },
      { type: 'input_json_delta', partial_json: JSON.stringify(call.args) },
    );

function block(index: number, start: object, delta: object): StreamEvent[] {
  const events = [
    { type: 'content_block_start', index, content_block: start },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
  return events;
}
