import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm, Usage } from '@lodge/testkit/llm';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker } from './testing/harness.ts';

const a = '127.0.0.2';
const c = '127.0.0.4';
const key = 'sk-key-of-the-agent-0123456789';

let llm: StubLlm;
let broker: TestBroker;
beforeEach(async () => {
  llm = await startStubLlm({ keys: [key] });
  broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers: [
      providerAt('acme', llm.openaiBaseUrl),
      providerAt('claude', `${llm.anthropicBaseUrl}/v1`, { api: 'anthropic-messages' }),
    ],
    agents: [
      { address: a, model: 'acme/m', keys: { acme: key } },
      { address: c, model: 'claude/m', keys: { claude: key } },
    ],
    prices: {
      price: (_provider, _model, { inputTokens }) =>
        inputTokens === null ? null : { costUsd: String(inputTokens / 1000), version: 'test' },
    },
  });
});
afterEach(async () => {
  await broker.close();
  await llm.close();
});

const messages = [{ role: 'user' as const, content: 'ping' }];
const chat = { model: 'default', messages };
const streaming = { ...chat, stream: true as const, max_tokens: 100 };
const anthropicPath = '/anthropic/v1/messages';

/** A stream's bytes from the broker and straight from the stub must be the same but for ids and times. */
const plain = (text: string): string => text.replace(/"(id|created)":("[^"]*"|\d+)/g, '"$1":0');

test('a slow drip passes promptly: every piece arrives before the next one is sent', { timeout: 20_000 }, async () => {
  let got = '';
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const chunks = ['one ', 'two ', 'three '];
  const drip = { chunks, beforeChunk: (index: number) => arrived[index - 1]?.promise };
  llm.script([drip]);
  for await (const chunk of await broker.openaiFrom(a).chat.completions.create(streaming)) {
    got += chunk.choices[0]?.delta.content ?? '';
    // The stub does not send piece n + 1 before piece n came out here; held-back bytes would hang this test.
    const whole = chunks.findIndex((_, index) => got === chunks.slice(0, index + 1).join(''));
    arrived[whole]?.resolve();
  }
  assert.equal(got, 'one two three ');
});

test("Anthropic's events pass promptly too, and untouched", { timeout: 20_000 }, async () => {
  const arrived = Promise.withResolvers<void>();
  const reply = { chunks: ['one', 'two'], usage: { input: 1, output: 1 } };
  llm.script([{ ...reply, beforeChunk: (index) => (index === 1 ? arrived.promise : undefined) }, reply]);
  const response = await broker.post(c, anthropicPath, streaming);
  assert.match(response.headers.get('content-type')!, /^text\/event-stream/);
  let through = '';
  for await (const bytes of response.body!) {
    through += Buffer.from(bytes).toString();
    if (through.includes('"one"')) arrived.resolve();
  }
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
  const body = JSON.stringify({ ...streaming, model: 'm' });
  const direct = await fetch(`${llm.anthropicBaseUrl}/v1/messages`, { method: 'POST', headers, body });
  assert.equal(plain(through), plain(await direct.text()));
});

test("rows say what the provider said was used, on both wires, streaming or not, with the caller's price", async () => {
  const usage: Usage = { input: 1234, output: 56, cacheRead: 789, cacheWrite: 0 };
  llm.rule(() => ({ text: 'a b c d e f', usage }));
  for (const options of [chat, streaming, { ...streaming, stream_options: { include_usage: true } }]) {
    await (await broker.post(a, '/openai/v1/chat/completions', options)).text();
    await (await broker.post(c, anthropicPath, options)).text();
  }
  const rows = await broker.rowCount(6);
  assert.equal(rows.length, 6);
  for (const row of rows) {
    const tokens = [row.inputTokens, row.outputTokens, row.cacheReadTokens, row.cacheWriteTokens ?? 0];
    assert.deepEqual(tokens, [1234, 56, 789, 0], row.provider);
    assert.deepEqual([row.outcome, row.status, row.model, row.costUsd], ['ok', 200, 'm', '1.234']);
    assert.ok(row.durationMs >= 0 && Date.now() - row.startedAt.getTime() < 60_000);
    assert.match(row.accountId, /^account of agent/);
  }
  assert.equal(new Set(rows.map(({ id }) => id)).size, 6);
});

test('usage is asked for behind the back of a guest that did not, and kept from it', async () => {
  const reply = { text: 'a b c d e f', usage: { input: 9, output: 3 } };
  llm.script([reply, reply, reply]);
  const unasked = await (await broker.post(a, '/openai/v1/chat/completions', streaming)).text();
  assert.deepEqual(llm.requests[0]!.body.stream_options, { include_usage: true });
  const frames = [...unasked.matchAll(/^data: (.*)$/gm)].map(([, data]) => data!);
  assert.ok(frames.every((frame) => frame === '[DONE]' || JSON.parse(frame).choices.length === 1));
  assert.equal(frames.at(-1), '[DONE]');
  const asking = { ...streaming, stream_options: { include_usage: true, x: 1 } };
  const asked = await (await broker.post(a, '/openai/v1/chat/completions', asking)).text();
  assert.deepEqual(llm.requests[1]!.body.stream_options, { include_usage: true, x: 1 });
  const direct = await fetch(`${llm.openaiBaseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ ...asking, model: 'm' }),
  });
  assert.equal(plain(asked), plain(await direct.text()), 'asked for, every byte is there');
});

test('tool calls come through whole, streamed and not', async () => {
  const call = { name: 'exec', arguments: { command: 'echo "ü" > f', n: [1, { a: null }] } };
  llm.script([{ toolCalls: [call, call] }, { toolCalls: [call, call] }]);
  const client = broker.openaiFrom(a);
  const streamed = await client.chat.completions.stream({ ...chat, stream: true }).finalChatCompletion();
  const whole = await client.chat.completions.create(chat);
  for (const { choices } of [streamed, whole]) {
    const calls = choices[0]!.message.tool_calls!;
    assert.equal(calls.length, 2);
    for (const made of calls) {
      assert.ok(made.type === 'function');
      assert.deepEqual({ name: made.function.name, arguments: JSON.parse(made.function.arguments) }, call);
    }
  }
});

test('a guest that leaves ends the call at the provider at once, before the answer and within it', async () => {
  for (const reply of [{ hang: 'at-once' }, { chunks: ['a', 'b'], hang: 'after-first-chunk' }] as const) {
    llm.script([reply]);
    const seen = llm.requests.length;
    const abort = new AbortController();
    const call = broker.post(a, '/openai/v1/chat/completions', streaming, { signal: abort.signal });
    const over = assert.rejects(call.then((response) => response.text()));
    while (llm.requests.length === seen) await new Promise(setImmediate);
    if (reply.hang === 'after-first-chunk') await call;
    const left = performance.now();
    abort.abort();
    await over;
    assert.equal(await llm.requests.at(-1)!.ended, 'client closed');
    const took = performance.now() - left;
    assert.ok(took < 60_000, `it took ${took} ms`);
  }
  const rows = await broker.rowCount(2);
  assert.deepEqual(
    rows.map(({ outcome, status, outputTokens, estimated }) => [outcome, status, outputTokens, estimated]),
    [
      ['cancelled', null, 0, true],
      ['cancelled', 200, 1, true],
    ],
  );
  assert.ok(
    rows.every(({ inputTokens }) => inputTokens! > 10),
    'the provider had taken the request in',
  );
});

test('what Anthropic said of the input before a guest left is in the row', async () => {
  llm.script([{ chunks: ['a', 'b'], usage: { input: 70, output: 9, cacheRead: 5 }, hang: 'after-first-chunk' }]);
  const abort = new AbortController();
  const response = await broker.post(c, anthropicPath, streaming, { signal: abort.signal });
  const reader = response.body!.getReader();
  for (let got = ''; !got.includes('text_delta');) got += String(Buffer.from((await reader.read()).value ?? []));
  abort.abort();
  const [row] = await broker.rowCount(1);
  assert.deepEqual([row!.outcome, row!.inputTokens, row!.cacheReadTokens], ['cancelled', 70, 5]);
});

test('a provider that cuts its answer is seen as a cut, not as an end', async () => {
  llm.script([
    { chunks: ['a', 'b', 'c'], cutAfterChunks: 2 },
    { text: 'never whole', cutAfterChunks: 0 },
  ]);
  let got = '';
  await assert.rejects(async () => {
    for await (const chunk of await broker.openaiFrom(a).chat.completions.create(streaming)) {
      got += chunk.choices[0]!.delta.content ?? '';
    }
  });
  assert.equal(got, 'ab');
  await assert.rejects(broker.openaiFrom(a).chat.completions.create(chat), {
    status: 502,
    message: '502 Provider acme broke off its answer.',
  });
  const rows = await broker.rowCount(2);
  for (const row of rows) {
    assert.deepEqual([row.outcome, row.status, row.estimated], ['provider_error', 200, true]);
    assert.ok(row.inputTokens! > 10 && row.outputTokens! > 0);
  }
});

test('a failure that the provider tells within a stream counts as one', async () => {
  const raw = (body: string) => ({ raw: { contentType: 'text/event-stream', body } });
  llm.script([
    raw('data: {"error":{"code":502,"message":"upstream"},"choices":[]}\n\ndata: [DONE]\n\n'),
    raw('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'),
  ]);
  assert.match(await (await broker.post(a, '/openai/v1/chat/completions', streaming)).text(), /upstream/);
  assert.match(await (await broker.post(c, anthropicPath, streaming)).text(), /Overloaded/);
  for (const { outcome, status, inputTokens, estimated } of await broker.rowCount(2)) {
    assert.deepEqual(
      [outcome, status, inputTokens, estimated],
      ['provider_error', 200, null, false],
      'nothing is billed',
    );
  }
});
