/**
 * The providers' APIs as the warm-up model speaks them: it reads the needed parts of a request and answers in the API's
 * form.
 */

export const warmupAnswer = 'pong';

export interface ToolCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Prompt {
  /** The conversation as the request has it. */
  readonly said: readonly unknown[];
  /** Number of tool results in it. */
  readonly results: number;
  readonly stream: boolean;
}

/** A wire format. Without calls the reply is the answer. */
interface Wire {
  readonly path: RegExp;
  /** Null when the body is no request of this API. */
  prompt(body: Readonly<Record<string, unknown>>, path: string): Prompt | null;
  reply(calls: readonly ToolCall[]): object;
  /** Returns the whole event stream, because nobody waits between its events. */
  stream(calls: readonly ToolCall[]): string;
}

export const wireAt = (path: string): Wire | null => wires.find((wire) => wire.path.test(path)) ?? null;

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Returns every object in a list, and in the lists of its members under `key`. */
const objectsIn = (list: readonly unknown[], key?: string): readonly Fields[] =>
  list.filter(isObject).flatMap((item) => {
    const inner = key === undefined ? undefined : item[key];
    return [item, ...(Array.isArray(inner) ? objectsIn(inner) : [])];
  });

const listAt = (body: Fields, key: string): readonly unknown[] | null =>
  Array.isArray(body[key]) ? (body[key] as readonly unknown[]) : null;

type StreamEvent = { readonly type: string } & Fields;

const event = (data: StreamEvent): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const chatHead = { id: 'chatcmpl-warmup', created: 0, model: 'default' };
const chatUsage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const chatCall = ({ name, args }: ToolCall, index: number): object => ({
  id: `call_${name}_${index}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

const chatCompletions: Wire = {
  path: /\/chat\/completions$/,
  prompt(body) {
    const said = listAt(body, 'messages');
    const results = objectsIn(said ?? []).filter(({ role }) => role === 'tool').length;
    return said && { said, results, stream: body['stream'] === true };
  },
  reply(calls) {
    const message =
      calls.length === 0
        ? { role: 'assistant', content: warmupAnswer }
        : { role: 'assistant', content: null, tool_calls: calls.map(chatCall) };
    const choices = [{ index: 0, message, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }];
    return { ...chatHead, object: 'chat.completion', choices, usage: chatUsage };
  },
  stream(calls) {
    const head = { ...chatHead, object: 'chat.completion.chunk' };
    const delta =
      calls.length === 0
        ? { role: 'assistant', content: warmupAnswer }
        : { role: 'assistant', tool_calls: calls.map((call, index) => ({ index, ...chatCall(call, index) })) };
    const finish = calls.length === 0 ? 'stop' : 'tool_calls';
    const chunks = [
      { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      { ...head, choices: [], usage: chatUsage },
    ];
    return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'].join('');
  },
};

const responsesUsage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
};
const responseOf = (status: string, output: readonly object[]): object => ({
  id: 'resp_warmup',
  object: 'response',
  created_at: 0,
  model: 'default',
  status,
  output,
  ...(status === 'completed' && { usage: responsesUsage }),
});
const outputText = { type: 'output_text', text: warmupAnswer, annotations: [] };
const messageItem = (status: string, content: readonly object[]): object => ({
  type: 'message',
  id: 'msg_warmup',
  status,
  role: 'assistant',
  content,
});
const callItem = ({ name, args }: ToolCall, index: number, status: string): object => ({
  type: 'function_call',
  id: `fc_${name}_${index}`,
  call_id: `call_${name}_${index}`,
  name,
  arguments: status === 'completed' ? JSON.stringify(args) : '',
  status,
});
const outputOf = (calls: readonly ToolCall[]): readonly object[] =>
  calls.length === 0
    ? [messageItem('completed', [outputText])]
    : calls.map((call, index) => callItem(call, index, 'completed'));

const responses: Wire = {
  path: /\/responses$/,
  prompt(body) {
    const said = typeof body['input'] === 'string' ? [body['input']] : listAt(body, 'input');
    const results = objectsIn(said ?? []).filter(({ type }) => type === 'function_call_output').length;
    return said && { said, results, stream: body['stream'] === true };
  },
  reply: (calls) => responseOf('completed', outputOf(calls)),
  stream(calls) {
    const items = calls.length === 0 ? textEvents : calls.flatMap(callEvents);
    const events = [
      { type: 'response.created', response: responseOf('in_progress', []) },
      ...items,
      { type: 'response.completed', response: responseOf('completed', outputOf(calls)) },
    ];
    return events.map((data, sequence_number) => event({ ...data, sequence_number })).join('');
  },
};

const ofText = { item_id: 'msg_warmup', output_index: 0, content_index: 0 };
const textEvents: readonly StreamEvent[] = [
  { type: 'response.output_item.added', output_index: 0, item: messageItem('in_progress', []) },
  { type: 'response.content_part.added', ...ofText, part: { ...outputText, text: '' } },
  { type: 'response.output_text.delta', ...ofText, delta: warmupAnswer },
  { type: 'response.output_text.done', ...ofText, text: warmupAnswer },
  { type: 'response.content_part.done', ...ofText, part: outputText },
  { type: 'response.output_item.done', output_index: 0, item: messageItem('completed', [outputText]) },
];

function callEvents(call: ToolCall, index: number): readonly StreamEvent[] {
  const ofCall = { item_id: `fc_${call.name}_${index}`, output_index: index };
  const text = JSON.stringify(call.args);
  return [
    { type: 'response.output_item.added', output_index: index, item: callItem(call, index, 'in_progress') },
    { type: 'response.function_call_arguments.delta', ...ofCall, delta: text },
    { type: 'response.function_call_arguments.done', ...ofCall, arguments: text },
    { type: 'response.output_item.done', output_index: index, item: callItem(call, index, 'completed') },
  ];
}

const messageHead = { id: 'msg_warmup', type: 'message', role: 'assistant', model: 'default' };
const messageUsage = { input_tokens: 1, output_tokens: 1 };
const stopReason = (calls: readonly ToolCall[]): string => (calls.length === 0 ? 'end_turn' : 'tool_use');
const toolUse = ({ name, args }: ToolCall, index: number): object => ({
  type: 'tool_use',
  id: `toolu_${name}_${index}`,
  name,
  input: args,
});
const block = (index: number, start: object, delta: object): readonly StreamEvent[] => [
  { type: 'content_block_start', index, content_block: start },
  { type: 'content_block_delta', index, delta },
  { type: 'content_block_stop', index },
];

const messages: Wire = {
  path: /\/messages$/,
  prompt(body) {
    const said = listAt(body, 'messages');
    const results = objectsIn(said ?? [], 'content').filter(({ type }) => type === 'tool_result').length;
    return said && { said, results, stream: body['stream'] === true };
  },
  reply(calls) {
    const content = calls.length === 0 ? [{ type: 'text', text: warmupAnswer }] : calls.map(toolUse);
    return { ...messageHead, content, stop_reason: stopReason(calls), usage: messageUsage };
  },
  stream(calls) {
    const blocks =
      calls.length === 0
        ? block(0, { type: 'text', text: '' }, { type: 'text_delta', text: warmupAnswer })
        : calls.flatMap((call, index) =>
            block(
              index,
              { ...toolUse(call, index), input: {} },
              { type: 'input_json_delta', partial_json: JSON.stringify(call.args) },
            ),
          );
    const events = [
      { type: 'message_start', message: { ...messageHead, content: [], usage: messageUsage } },
      ...blocks,
      { type: 'message_delta', delta: { stop_reason: stopReason(calls) }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    return events.map(event).join('');
  },
};

const generateContent: Wire = {
  path: /\/models\/[^/]+:(?:generate|streamGenerate)Content$/,
  prompt(body, path) {
    const said = listAt(body, 'contents');
    const results = objectsIn(said ?? [], 'parts').filter(({ functionResponse }) => functionResponse).length;
    return said && { said, results, stream: path.endsWith(':streamGenerateContent') };
  },
  reply(calls) {
    const parts = calls.length === 0 ? [{ text: warmupAnswer }] : calls.map((call) => ({ functionCall: call }));
    return {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: 'default',
    };
  },
  stream: (calls) => `data: ${JSON.stringify(generateContent.reply(calls))}\r\n\r\n`,
};

const wires: readonly Wire[] = [chatCompletions, responses, messages, generateContent];
