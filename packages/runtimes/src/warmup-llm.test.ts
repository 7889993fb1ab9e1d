import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { startWarmupLlm, textPrompt, toolsPrompt } from './warmup-llm.ts';

const toolRounds = [
  [
    { name: 'write', args: { path: '/tmp/x', content: 'warm' } },
    { name: 'ls', args: {} },
  ],
  [{ name: 'exec', args: { command: 'date' } }],
];

let llm: Awaited<ReturnType<typeof startWarmupLlm>>;
let base: string;
let openai: OpenAI;

before(async () => {
  llm = await startWarmupLlm('127.0.0.1', toolRounds);
  base = `http://127.0.0.1:${llm.port}`;
  openai = new OpenAI({ baseURL: `${base}/openai/v1`, apiKey: 'none', maxRetries: 0 });
});
after(() => llm.close());

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(base + path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

test('an OpenAI client gets its answer, whole and streamed', async () => {
  const messages = [{ role: 'user', content: textPrompt }] as const;
  const whole = await openai.chat.completions.create({ model: 'default', messages: [...messages] });
  assert.equal(whole.choices[0]?.message.content, 'pong');
  const stream = await openai.chat.completions.create({ model: 'default', messages: [...messages], stream: true });
  let text = '';
  let finish: string | null = null;
  let tokens = 0;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    tokens += chunk.usage?.total_tokens ?? 0;
  }
  assert.deepEqual({ text, finish, tokens }, { text: 'pong', finish: 'stop', tokens: 2 });
});

test('a turn with tools asks for every round of them and then answers', async () => {
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: [{ type: 'text', text: toolsPrompt }] }];
  for (const round of toolRounds) {
    const reply = await openai.chat.completions.create({ model: 'default', messages });
    const message = reply.choices[0]!.message;
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    const asked = calls.map((call) => ({
      name: call.function.name,
      args: JSON.parse(call.function.arguments) as object,
    }));
    assert.deepEqual(asked, round);
    messages.push(message, ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }) as const));
  }
  const last = await openai.chat.completions.create({ model: 'default', messages });
  assert.equal(last.choices[0]?.message.content, 'pong');
});

test('Anthropic messages are answered, whole and streamed', async () => {
  const body = { model: 'default', max_tokens: 10, messages: [{ role: 'user', content: textPrompt }] };
  const whole = (await (await post('/anthropic/v1/messages', body)).json()) as {
    content: unknown;
    stop_reason: string;
  };
  assert.deepEqual(whole.content, [{ type: 'text', text: 'pong' }]);
  assert.equal(whole.stop_reason, 'end_turn');
  assert.deepEqual(await anthropicEvents({ ...body, stream: true }), [
    'message_start',
    'content_block_start',
    'content_block_delta pong',
    'content_block_stop',
    'message_delta end_turn',
    'message_stop',
  ]);
});

test('Anthropic tool calls carry their whole input', async () => {
  const messages = [{ role: 'user', content: [{ type: 'text', text: toolsPrompt }] }];
  const events = await anthropicEvents({ model: 'default', max_tokens: 10, messages, stream: true });
  const inputs = toolRounds[0]!.map(({ args }) => `content_block_delta ${JSON.stringify(args)}`);
  assert.deepEqual(
    events.filter((event) => event.startsWith('content_block_delta')),
    inputs,
  );
  assert.ok(events.includes('message_delta tool_use'));
});

test('responses are answered, whole and streamed, with a round of tools first', async () => {
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: toolsPrompt }];
  for (const round of toolRounds) {
    const stream = openai.responses.stream({ model: 'default', input });
    const { output } = await stream.finalResponse();
    const calls = output.filter((item) => item.type === 'function_call');
    assert.deepEqual(
      calls.map((call) => ({ name: call.name, args: JSON.parse(call.arguments) as object })),
      round,
    );
    const results = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'ok' }) as const);
    input.push(...calls, ...results);
  }
  const last = await openai.responses.create({ model: 'default', input });
  assert.equal(last.output_text, 'pong');
  const streamed = await openai.responses.stream({ model: 'default', input: textPrompt }).finalResponse();
  assert.deepEqual([streamed.output_text, streamed.usage?.total_tokens], ['pong', 2]);
});

test('Google’s generateContent is answered, whole and streamed, with a round of tools first', async () => {
  const path = '/google/v1beta/models/default';
  const contents: object[] = [{ role: 'user', parts: [{ text: toolsPrompt }] }];
  interface Reply {
    candidates: { content: { parts: { text?: string; functionCall?: { name: string } }[] } }[];
  }
  for (const round of toolRounds) {
    const text = await (await post(`${path}:streamGenerateContent?alt=sse`, { contents })).text();
    const { content } = (JSON.parse(text.replace('data: ', '')) as Reply).candidates[0]!;
    assert.deepEqual(
      content.parts.map(({ functionCall }) => functionCall?.name),
      round.map(({ name }) => name),
    );
    const parts = content.parts.map(({ functionCall }) => ({ functionResponse: { ...functionCall, response: {} } }));
    contents.push(content, { role: 'user', parts });
  }
  const last = (await (await post(`${path}:generateContent`, { contents })).json()) as Reply;
  assert.deepEqual(last.candidates[0]?.content.parts, [{ text: 'pong' }]);
});

test('what is no chat is refused', async () => {
  assert.equal((await post('/openai/v1/chat/completions', 'no json')).status, 400);
  assert.equal((await post('/openai/v1/chat/completions', {})).status, 400);
  assert.equal((await post('/openai/v1/embeddings', {})).status, 404);
});

test('it ends although a client holds its connection open', { timeout: 5_000 }, async () => {
  const other = await startWarmupLlm('127.0.0.1', toolRounds);
  await (await fetch(`http://127.0.0.1:${other.port}/`)).text();
  await other.close();
  await assert.rejects(fetch(`http://127.0.0.1:${other.port}/`));
});

/** Event names, with the text, input or stop reason they carry. */
async function anthropicEvents(body: object): Promise<string[]> {
  const reply = await post('/anthropic/v1/messages', body);
  const blocks = (await reply.text()).split('\n\n').filter((block) => block !== '');
  return blocks.map((block) => {
    const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    const { delta } = JSON.parse(data!) as { delta?: Record<string, string> };
    const carried = delta?.['text'] ?? delta?.['partial_json'] ?? delta?.['stop_reason'];
    return carried === undefined ? event! : `${event} ${carried}`;
  });
}

test('the host’s tools are there as a runtime asks for them, without sessions and streams', async () => {
  const reply = async (message: object): Promise<unknown> =>
    (await post('/mcp', { jsonrpc: '2.0', ...message })).json();
  assert.partialDeepStrictEqual(
    await reply({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } }),
    {
      id: 1,
      result: { protocolVersion: '2025-11-25', capabilities: { tools: {} } },
    },
  );
  const notified = await post('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' });
  assert.deepEqual([notified.status, notified.headers.get('connection')], [202, 'close']);
  assert.partialDeepStrictEqual(await reply({ id: 'a', method: 'tools/list' }), {
    id: 'a',
    result: { tools: [{ name: 'usage_now', inputSchema: { type: 'object' } }] },
  });
  assert.partialDeepStrictEqual(await reply({ id: 2, method: 'tools/call', params: { name: 'usage_now' } }), {
    result: { content: [{ type: 'text', text: 'pong' }] },
  });
  assert.partialDeepStrictEqual(await reply({ id: 3, method: 'resources/list' }), { error: { code: -32_601 } });
  assert.equal((await fetch(`${base}/mcp`)).status, 405);
  assert.equal((await post('/mcp', 'not JSON')).status, 400);
});
