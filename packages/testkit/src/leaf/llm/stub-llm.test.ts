import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import { startStubLlm } from './index.ts';
import type { StubLlm } from './index.ts';

let llm: StubLlm;
let client: OpenAI;
beforeEach(async () => {
  llm = await startStubLlm({ keys: ['k1', 'k2'] });
  client = new OpenAI({ baseURL: llm.openaiBaseUrl, apiKey: 'k1', maxRetries: 0 });
});
afterEach(() => llm.close());

const messages = [
  { role: 'system' as const, content: 'Be short.' },
  { role: 'user' as const, content: 'Hello there' },
];
const chat = { model: 'm', messages };

async function anthropic(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${llm.anthropicBaseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k2', 'anthropic-version': '2023-06-01', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'claude', max_tokens: 10, messages, ...body }),
  });
}

test('unscripted, it repeats the last user message, on both wires, streaming and not', async () => {
  const reply = await client.chat.completions.create(chat);
  assert.equal(reply.choices[0]!.message.content, 'You said: Hello there');
  let streamed = '';
  for await (const chunk of await client.chat.completions.create({ ...chat, stream: true })) {
    streamed += chunk.choices[0]?.delta.content ?? '';
  }
  assert.equal(streamed, 'You said: Hello there');
  const message: any = await (await anthropic({})).json();
  assert.deepEqual(message.content, [{ type: 'text', text: 'You said: Hello there' }]);
  const events = await eventsOf(await anthropic({ stream: true }));
  assert.equal(events.map(({ delta }) => delta?.text ?? '').join(''), 'You said: Hello there');
  assert.deepEqual(
    [...new Set(events.map(({ type }) => type))],
    [
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ],
  );
});

test("it repeats the user's words alone out of what OpenClaw 2026.9.6 makes of them", async () => {
  const context = '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nData:\n"none"\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>';
  const runtime = 'Runtime: agent=main | session=agent:main:x | channel=webchat';
  const time = '[Sat 2026-11-21 12:13 UTC]';
  const history = '[Chat messages since your last reply - for context]\nUser: first\nAssistant: ans';
  for (const content of [
    `${time} Hello\n\nthere\n\n${runtime}`,
    `${time} ${history}\n\n[Current message - respond to this]\nUser: Hello\n\nthere\n\n${runtime}`,
  ]) {
    const said = { role: 'user' as const, content };
    const added = { role: 'user' as const, content: [{ type: 'text' as const, text: context }] };
    const reply = await client.chat.completions.create({ model: 'm', messages: [said, added] });
    assert.equal(reply.choices[0]!.message.content, 'You said: Hello\n\nthere');
  }
});

test('tool calls arrive whole on both wires, also by a name that the request gives', async () => {
  const pick = (request: { tools: readonly string[] }) => ({
    toolCalls: [{ name: request.tools.find((name) => /shell|exec/.test(name))!, arguments: { command: 'date > f' } }],
  });
  llm.script([pick, pick, pick]);
  const tools = [{ type: 'function' as const, function: { name: 'run_shell', parameters: {} } }];
  const { choices } = await client.chat.completions.create({ ...chat, tools });
  assert.equal(choices[0]!.finish_reason, 'tool_calls');
  const call = choices[0]!.message.tool_calls![0]!;
  assert.ok(call.type === 'function');
  assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ['run_shell', { command: 'date > f' }]);
  const streamed = await client.chat.completions.stream({ ...chat, tools }).finalChatCompletion();
  assert.equal(
    (streamed.choices[0]!.message.tool_calls![0] as typeof call).function.arguments,
    call.function.arguments,
  );
  const events = await eventsOf(await anthropic({ stream: true, tools: [{ name: 'exec', input_schema: {} }] }));
  assert.equal(events.find(({ type }) => type === 'content_block_start')!.content_block.name, 'exec');
  const input = events.map(({ delta }) => delta?.partial_json ?? '').join('');
  assert.deepEqual(JSON.parse(input), { command: 'date > f' });
  assert.equal(events.find(({ type }) => type === 'message_delta')!.delta.stop_reason, 'tool_use');
});

test('usage is told as each provider tells it: OpenAI streams it only when asked and counts cached tokens in', async () => {
  const usage = { input: 100, output: 7, cacheRead: 30, cacheWrite: 5 };
  llm.rule(() => ({ text: 'a b c', usage }));
  const plain = await client.chat.completions.create(chat);
  assert.equal(plain.usage!.prompt_tokens, 130);
  assert.equal(plain.usage!.prompt_tokens_details!.cached_tokens, 30);
  const streamedUsage = async (options: object): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for await (const chunk of await client.chat.completions.create({ ...chat, stream: true, ...options })) {
      if (chunk.usage) seen.push(chunk.usage);
    }
    return seen;
  };
  assert.deepEqual(await streamedUsage({}), []);
  assert.deepEqual(await streamedUsage({ stream_options: { include_usage: true } }), [plain.usage]);
  const message: any = await (await anthropic({})).json();
  assert.equal(message.usage.input_tokens, 100);
  assert.equal(message.usage.cache_creation_input_tokens, 5);
  const events = await eventsOf(await anthropic({ stream: true }));
  assert.equal(events[0]!.message.usage.cache_read_input_tokens, 30);
  assert.equal(events.find(({ type }) => type === 'message_delta')!.usage.output_tokens, 7);
  assert.deepEqual(
    llm.requests.map((request) => request.usage),
    Array.from({ length: 5 }, () => usage),
  );
});

test('a wrong key, a wrong path and a wrong body get the errors of the provider', async () => {
  await assert.rejects(client.withOptions({ apiKey: 'nope' }).chat.completions.create(chat), {
    status: 401,
    code: 'invalid_api_key',
    type: 'invalid_request_error',
  });
  await assert.rejects(client.completions.create({ model: 'm', prompt: '' }), { status: 404 });
  const wrongKey = await anthropic({}, { 'x-api-key': 'nope' });
  assert.equal(wrongKey.status, 401);
  assert.equal(((await wrongKey.json()) as any).error.type, 'authentication_error');
  assert.equal((await anthropic({ messages: undefined })).status, 400);
});

test('scripted failures: 429 with retry-after, 500, and a cut in the middle', async () => {
  llm.script([{ status: 429, retryAfterSeconds: 7 }, { status: 500 }, { chunks: ['a', 'b', 'c'], cutAfterChunks: 2 }]);
  await assert.rejects(
    client.chat.completions.create(chat),
    (error: any) => error.status === 429 && error.headers.get('retry-after') === '7',
  );
  await assert.rejects(client.chat.completions.create(chat), { status: 500 });
  let got = '';
  await assert.rejects(async () => {
    for await (const chunk of await client.chat.completions.create({ ...chat, stream: true })) {
      got += chunk.choices[0]!.delta.content ?? '';
    }
  });
  assert.equal(got, 'ab');
  assert.equal(await llm.requests[2]!.ended, 'cut');
});

test('it holds an answer until it is released, and sees the client leave', async () => {
  llm.script([{ text: 'late', hang: 'at-once' }, { hang: 'at-once' }]);
  const late = client.chat.completions.create(chat);
  while (llm.requests.length < 1) await new Promise(setImmediate);
  llm.release();
  assert.equal((await late).choices[0]!.message.content, 'late');
  const abort = new AbortController();
  const gone = assert.rejects(client.chat.completions.create(chat, { signal: abort.signal }));
  while (llm.requests.length < 2) await new Promise(setImmediate);
  abort.abort();
  await gone;
  assert.equal(await llm.requests[1]!.ended, 'client closed');
  assert.ok(llm.requests[1]!.clientClosedAt);
  assert.equal(await llm.requests[0]!.ended, 'finished');
});

test('a slow drip comes piece by piece', async () => {
  llm.script([{ chunks: ['1', '2', '3'], intervalMs: 60 }]);
  const at: number[] = [];
  for await (const chunk of await client.chat.completions.create({ ...chat, stream: true })) {
    if (chunk.choices[0]?.delta.content) at.push(performance.now());
  }
  assert.ok(at[1]! - at[0]! > 30 && at[2]! - at[1]! > 30, `pieces came at ${at.join(', ')}`);
});

test('responses: the unmodified client reads text, tool calls, thoughts and usage, streamed and not', async () => {
  const reply = {
    text: 'one two three four five',
    thinking: 'hm',
    toolCalls: [{ name: 'exec', arguments: { command: 'date' } }],
    usage: { input: 10, output: 9, cacheRead: 4, reasoning: 3 },
  };
  llm.script([reply, reply]);
  const asked = { model: 'm', input: [{ role: 'user' as const, content: 'Hello there' }] };
  const whole = await client.responses.create(asked);
  const stream = client.responses.stream(asked);
  let deltas = '';
  for await (const event of stream) if (event.type === 'response.output_text.delta') deltas += event.delta;
  const streamed = await stream.finalResponse();
  assert.equal(deltas, reply.text);
  for (const response of [whole, streamed]) {
    assert.equal(response.output_text, reply.text);
    const call = response.output.find((item) => item.type === 'function_call');
    assert.ok(call?.type === 'function_call');
    assert.deepEqual(JSON.parse(call.arguments), { command: 'date' });
    assert.deepEqual(
      [response.usage!.input_tokens, response.usage!.input_tokens_details.cached_tokens],
      [14, 4],
      'cached tokens are counted in',
    );
    assert.equal(response.usage!.output_tokens_details.reasoning_tokens, 3);
  }
  assert.deepEqual(
    llm.ledger.map(({ wire, stream: streams, usage, reported }) => [wire, streams, usage, reported]),
    [
      ['responses', false, reply.usage, true],
      ['responses', true, reply.usage, true],
    ],
  );
});

test('Google: the model is in the path, a wrong key is a 400, a stream has counts that run along', async () => {
  const ask = (method: string, key = 'k1'): Promise<Response> =>
    fetch(`${llm.googleBaseUrl}/models/gemini-x:${method}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello there' }] }] }),
    });
  const whole: any = await (await ask('generateContent')).json();
  assert.equal(whole.candidates[0].content.parts[0].text, 'You said: Hello there');
  llm.script([{ text: 'a b c d e f g h i', usage: { input: 7, output: 30, reasoning: 10 }, thinking: 'hm' }]);
  const chunks = (await eventsOf(await ask('streamGenerateContent?alt=sse'))).map(
    ({ usageMetadata: { candidatesTokenCount, thoughtsTokenCount = 0 }, candidates: [{ finishReason }] }) => [
      candidatesTokenCount + thoughtsTokenCount,
      finishReason,
    ],
  );
  assert.deepEqual(chunks, [
    [0, undefined],
    [7, undefined],
    [15, undefined],
    [30, 'STOP'],
  ]);
  assert.equal(llm.requests.at(-1)!.model, 'gemini-x');
  const refused = await ask('generateContent', 'nope');
  assert.deepEqual([refused.status, ((await refused.json()) as any).error.details[0].reason], [400, 'API_KEY_INVALID']);
});

test('it cuts at a byte, streamed or not, and tells nothing of usage when told so', async () => {
  const bytesOf = async (reply: Response): Promise<number> => {
    let bytes = 0;
    await assert.rejects(async () => {
      for await (const chunk of reply.body!) bytes += (chunk as Uint8Array).length;
    });
    return bytes;
  };
  for (const stream of [true, false]) {
    llm.script([{ text: 'a b c d e f g h', cutAtByte: 150 }]);
    assert.equal(await bytesOf(await anthropic({ stream })), 150);
    llm.script([{ text: 'x', noUsage: true }]);
    assert.doesNotMatch(await (await anthropic({ stream })).text(), /usage/);
  }
  assert.deepEqual(
    llm.ledger.map(({ reported }) => reported),
    [true, false, true, false],
  );
});

async function eventsOf(response: Response): Promise<any[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
}
