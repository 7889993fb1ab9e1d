import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import type { LlmApi } from '@lodge/ports';
import { startStubLlm } from '@lodge/testkit/llm';
import type { Reply, StubLlm } from '@lodge/testkit/llm';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker } from './testing/harness.ts';

const key = 'sk-key-of-the-agent-0123456789';

/** One agent for each API, in turn the loopback addresses from 127.0.0.2 on. */
const apis = ['openai-completions', 'openai-responses', 'anthropic-messages', 'google-generative-ai'] as const;
const addressOf = (api: LlmApi): string => `127.0.0.${apis.indexOf(api) + 2}`;

let llm: StubLlm;
let broker: TestBroker;
beforeEach(async () => {
  llm = await startStubLlm({ keys: [key], strict: true });
  const bases: Record<LlmApi, string> = {
    'openai-completions': llm.openaiBaseUrl,
    'openai-responses': llm.openaiBaseUrl,
    'anthropic-messages': `${llm.anthropicBaseUrl}/v1`,
    'google-generative-ai': llm.googleBaseUrl,
  };
  broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    // The id is OpenAI's own where nothing may be put into other words.
    providers: apis.map((api) => providerAt(api === 'openai-completions' ? 'openai' : api, bases[api], { api })),
    agents: apis.map((api) => {
      const id = api === 'openai-completions' ? 'openai' : api;
      return { address: addressOf(api), model: `${id}/model-1`, keys: { [id]: key } };
    }),
  });
});
afterEach(async () => {
  await broker.close();
  await llm.close();
});

/** Bodies as runtimes write them, with what a parser would lose: spaces, escapes, `1.0`, the order of fields. */
const bodies: Readonly<Record<LlmApi, string>> = {
  'openai-completions': String.raw`{"messages":[ {"role":"developer","content":"be"},{"role":"user","content":[{"type":"text","text":"\u00fc\/"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
    {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"exec","arguments":"{\"a\":1.0}"}}]},{"role":"tool","tool_call_id":"c1","content":"done"}],
    "temperature":1.0,"model":"default","max_completion_tokens":64,"tools":[{"type":"function","function":{"name":"exec","parameters":{"type":"object","minimum":1e2}}}],"prompt_cache_key":"k"}`,
  'openai-responses': String.raw`{"model":"default", "input":[{"role":"user","content":[{"type":"input_text","text":"\u00fc"}]},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA\/=="},
    {"type":"function_call","call_id":"c1","name":"exec","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"1.0"}],"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":64,"temperature":1.0,"reasoning":{"effort":"high"}}`,
  'anthropic-messages': String.raw`{"model":"default","max_tokens":64,"thinking":{"type":"enabled","budget_tokens":1024},"system":[{"type":"text","text":"be","cache_control":{"type":"ephemeral","ttl":"1h"}}],
    "messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"h\u006dm","signature":"EqQB\/Ckk=="},{"type":"redacted_thinking","data":"AAEC"},{"type":"tool_use","id":"t1","name":"exec","input":{"n":1.0}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}],"tools":[{"name":"exec","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]}`,
  'google-generative-ai': String.raw`{"contents":[{"role":"user","parts":[{"text":"\u00fc"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"name":"exec","args":{"n":1.0}}}]},
    {"role":"user","parts":[{"functionResponse":{"name":"exec","response":{"r":1e2}}}]}],"generationConfig":{"maxOutputTokens":64,"thinkingConfig":{"thinkingBudget":128}},"tools":[{"functionDeclarations":[{"name":"exec","parameters":{"type":"object"}}]}]}`,
};

function send(api: LlmApi, stream: boolean): Promise<Response> {
  const google = api === 'google-generative-ai';
  const path = {
    'openai-completions': '/openai/v1/chat/completions',
    'openai-responses': '/openai/v1/responses',
    'anthropic-messages': '/anthropic/v1/messages',
    'google-generative-ai': `/google/v1beta/models/default:${stream ? 'streamGenerateContent?alt=sse&key=guest' : 'generateContent'}`,
  }[api];
  const streaming =
    api === 'openai-completions' ? ',"stream":true,"stream_options":{"include_usage":true}}' : ',"stream":true}';
  const body = stream && !google ? bodies[api].replace(/\}$/, streaming) : bodies[api];
  sent.push(body);
  return broker.post(addressOf(api), path, null, { body, headers: { 'anthropic-beta': 'x-1' } });
}
const sent: string[] = [];

const reply: Reply = {
  text: 'one two three four five six',
  thinking: 'hm',
  toolCalls: [{ name: 'exec', arguments: { command: 'date' } }],
  usage: { input: 100, output: 50, cacheRead: 30, reasoning: 20 },
};

test('each API, streamed and not: as published, to the byte, but for the model; and the row says what was told', async () => {
  sent.length = 0;
  for (const api of apis) {
    for (const stream of [false, true]) {
      llm.script([reply]);
      const response = await send(api, stream);
      assert.equal(response.status, 200, `${api}: ${await response.clone().text()}`);
      const text = await response.text();
      assert.match(text, /six/);
      assert.match(text, /exec/);
      const seen = llm.requests.at(-1)!;
      const expected = sent.at(-1)!.replace('"model":"default"', '"model":"model-1"');
      assert.equal(seen.rawBody, expected, api);
      assert.deepEqual([seen.model, seen.key, seen.stream], ['model-1', key, stream]);
      assert.equal(seen.headers['anthropic-beta'], api === 'anthropic-messages' ? 'x-1' : undefined);
    }
  }
  const rows = await broker.rowCount(8);
  for (const [index, row] of rows.entries()) {
    const api = apis[Math.floor(index / 2)]!;
    assert.deepEqual(
      [row.api, row.outcome, row.estimated, row.inputTokens, row.cacheReadTokens, row.outputTokens],
      [api, 'ok', false, 100, 30, 50],
    );
    // Anthropic counts thoughts among the output and tells them apart nowhere.
    assert.equal(row.reasoningTokens, api === 'anthropic-messages' ? null : 20, api);
    assert.ok(row.timeToFirstByteMs! <= row.durationMs);
  }
});

test('what comes back is what the provider sent, to the byte, streamed and not', async () => {
  const raws: Readonly<Record<LlmApi, string>> = {
    'openai-completions':
      ': hello\n\ndata: {"choices":[{"delta":{"content":"\\u00fc"}}], "n":1.0}\r\n\r\ndata: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\ndata: [DONE]\n\n',
    'openai-responses':
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"x","n":1.0}\n\nevent: response.completed\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
    'anthropic-messages':
      'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"signature_delta","signature":"Eq\\/=="}}\n\nevent: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":1}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
    'google-generative-ai':
      'data: {"candidates":[{"content":{"parts":[{"text":"x","thoughtSignature":"c2ln"}]}}]}\r\n\r\ndata: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1}}\r\n\r\n',
  };
  const whole = '{"choices":[],  "n":1.0,"x":"\\u00fc\\/" }';
  for (const api of apis) {
    llm.script([{ raw: { contentType: 'text/event-stream', body: raws[api] } }]);
    assert.equal(await (await send(api, true)).text(), raws[api], api);
    llm.script([{ raw: { contentType: 'application/json', body: whole } }]);
    assert.equal(await (await send(api, false)).text(), whole, api);
  }
});

test('a stream or a reply that tells no usage is counted from what was said, and marked', async () => {
  for (const api of apis) {
    for (const stream of [false, true]) {
      llm.script([{ text: 'x'.repeat(400), noUsage: true }]);
      await (await send(api, stream)).text();
    }
  }
  for (const row of await broker.rowCount(8)) {
    assert.deepEqual([row.outcome, row.estimated], ['ok', true]);
    assert.ok(row.inputTokens! > 50 && row.inputTokens! < 400, `${row.api}: ${row.inputTokens}`);
    assert.ok(row.outputTokens! >= 100 && row.outputTokens! < 140, `${row.api}: ${row.outputTokens}`);
  }
});

test('a stream that is cut at any byte is metered by what was seen, and marked', async () => {
  for (const api of apis) {
    for (const cutAtByte of [1, 500, 1500]) {
      llm.script([
        { chunks: Array.from({ length: 20 }, () => 'word '.repeat(8)), usage: { input: 100, output: 200 }, cutAtByte },
      ]);
      await assert.rejects((await send(api, true)).text());
    }
  }
  for (const row of await broker.rowCount(12)) {
    const { outcome, inputTokens, outputTokens, estimated, api } = row;
    assert.deepEqual([outcome, estimated], ['provider_error', true], 'Google too, which tells its counts as it goes');
    assert.ok(inputTokens! > 0, `${api}: the provider had taken the request in`);
    assert.ok(outputTokens! <= 250, `${api}: ${outputTokens}`);
  }
});

test("the broker's own errors are in the shape of each API", async () => {
  const wrong = await Promise.all(
    apis.map(async (api) => {
      const path = `/${{ 'openai-completions': 'openai/v1/chat/completions', 'openai-responses': 'openai/v1/responses', 'anthropic-messages': 'anthropic/v1/messages', 'google-generative-ai': 'google/v1beta/models/x:generateContent' }[api]}`;
      const response = await broker.post(addressOf(api), path, null, { body: '{"model":' });
      return [response.status, await response.json()] as [number, any];
    }),
  );
  assert.deepEqual(
    wrong.map(([status]) => status),
    [400, 400, 400, 400],
  );
  const [completions, responses, messages, generate] = wrong.map(([, body]) => body);
  for (const body of [completions, responses]) {
    assert.deepEqual([body.error.type, body.error.code], ['invalid_request_error', 'invalid_json']);
  }
  assert.deepEqual([messages.type, messages.error.type], ['error', 'invalid_request_error']);
  assert.deepEqual([generate.error.code, generate.error.status], [400, 'INVALID_ARGUMENT']);
});

test('only the calls of the allow-list are there: exact methods, paths and queries', async () => {
  const openai = addressOf('openai-completions');
  const google = addressOf('google-generative-ai');
  const status = async (address: string, method: string, path: string): Promise<number> => {
    const init = {
      method,
      ...(method !== 'GET' && { body: '{"model":"default","messages":[],"input":"x","contents":[]}' }),
    };
    const response = await broker.fetchFrom(address)(broker.url + path, init);
    await response.text();
    return response.status;
  };
  for (const path of [
    '/openai/v1/embeddings',
    '/openai/v1/files',
    '/openai/v1/responses/resp_1/cancel',
    '/openai/v1//chat/completions',
    '/openai/v1/chat/completions/',
    '/openai/v1/%63hat/completions',
    '/OPENAI/v1/chat/completions',
    '/anthropic/v1/messages/batches',
    '/google/v1beta/models/x:embedContent',
    '/google/v1beta/models/x:constructor',
    '/google/v1beta/files',
    '/google/v1beta/models/..%2f..%2fx:generateContent/',
    '/',
  ]) {
    assert.equal(await status(openai, 'POST', path), 404, path);
  }
  for (const method of ['PUT', 'DELETE', 'PATCH', 'GET']) {
    assert.equal(await status(openai, method, '/openai/v1/responses'), 404, method);
  }
  assert.equal(await status(google, 'POST', '/google/v1beta/models/default:streamGenerateContent'), 400, 'no alt=sse');
  assert.equal(await status(google, 'POST', '/google/v1beta/models/default:generateContent?$fields=x'), 400);
  assert.equal(llm.requests.length, 0);
  for (const path of ['/openai/v1/models', '/anthropic/v1/models/default', '/google/v1beta/models']) {
    assert.equal(await status(openai, 'GET', path), 200, path);
  }
});

test('a model that is named cannot leave its place in the path', async () => {
  const path = (model: string): string => `/google/v1beta/models/${encodeURIComponent(model)}:generateContent`;
  for (const model of ['../../v1/x', 'a/../b', 'a?b=c', 'a#b', '..', 'a:b%2f', '.']) {
    const response = await broker.post(addressOf('google-generative-ai'), path(`google-generative-ai/${model}`), {
      contents: [],
    });
    assert.equal(response.status, 400, model);
  }
  assert.equal(llm.requests.length, 0);
});

test('counting tokens is passed on and is no call of the model', async () => {
  const response = await broker.post(addressOf('anthropic-messages'), '/anthropic/v1/messages/count_tokens', {
    model: 'default',
    messages: [],
  });
  // The stub has no such endpoint: what matters is where it was asked, and that no row is written.
  assert.equal(response.status, 404);
  assert.equal(llm.requests[0]!.path, '/v1/messages/count_tokens');
  assert.equal(llm.requests[0]!.body.model, 'model-1');
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(broker.rows, []);
});

test('a response that would go on at the provider with nobody to count it is refused', async () => {
  const asked = { model: 'default', input: 'x', background: true };
  const response = await broker.post(addressOf('openai-responses'), '/openai/v1/responses', asked);
  assert.equal(response.status, 400);
  assert.match(await response.text(), /background is not available/);
  assert.equal(llm.requests.length, 0);
});
