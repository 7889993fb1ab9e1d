/** An agent's allowed calls, and their costs, if a list of models or a spend limit holds. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import type { LlmApi, LlmCall, OpenCall, Provider } from '@lodge/ports';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { createPriceBook } from './prices/price-book.ts';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestAgent, TestBroker, TestBrokerOptions } from './testing/harness.ts';

const limited = '127.0.0.2';
const free = '127.0.0.3';
const prices = { input: '1', output: '10', cacheRead: null, cacheWrite: null };
const priced = [{ name: 'm', contextWindow: null, prices }];

let llm: StubLlm;
let broker: TestBroker;
let opened: OpenCall[];
let closed: LlmCall[];
beforeEach(async () => {
  llm = await startStubLlm();
});
afterEach(async () => {
  await broker.close();
  await llm.close();
});

async function start({
  change = {},
  agent = {},
  payerIsLimited = false,
  ...more
}: {
  change?: Partial<Provider>;
  agent?: Partial<TestAgent>;
  payerIsLimited?: boolean;
} & Partial<TestBrokerOptions> = {}): Promise<void> {
  [opened, closed] = [[], []];
  const own = { needsKey: false, models: priced };
  const providers = [
    providerAt('acme', llm.openaiBaseUrl, { ...own, ...change }),
    providerAt('claude', `${llm.anthropicBaseUrl}/v1`, { ...own, api: 'anthropic-messages' }),
    providerAt('responses', llm.openaiBaseUrl, { ...own, api: 'openai-responses' }),
    providerAt('google', `${llm.googleBaseUrl}/v1beta`, { ...own, api: 'google-generative-ai' }),
  ];
  broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers,
    agents: [
      { address: limited, model: 'acme/m', keys: {}, spendLimited: true, ...agent },
      { address: free, model: 'acme/m', keys: {} },
    ],
    prices: createPriceBook(providers, new Map()),
    ledger: {
      open: async (call) => (opened.push(call), null),
      close: async (call) => void closed.push(call),
      payerIsLimited: () => payerIsLimited,
    },
    ...more,
  });
}

const paths: Readonly<Record<LlmApi, string>> = {
  'openai-completions': '/openai/v1/chat/completions',
  'openai-responses': '/openai/v1/responses',
  'anthropic-messages': '/anthropic/v1/messages',
  'google-generative-ai': '/google/v1beta/models/google%2Fm:generateContent',
};
const asked: Readonly<Record<LlmApi, object>> = {
  'openai-completions': { model: 'acme/m', messages: [{ role: 'user', content: 'ping' }] },
  'openai-responses': { model: 'responses/m', input: 'ping' },
  'anthropic-messages': { model: 'claude/m', max_tokens: 100, messages: [{ role: 'user', content: 'ping' }] },
  'google-generative-ai': { contents: [{ role: 'user', parts: [{ text: 'ping' }] }] },
};
const completions = 'openai-completions';

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

async function ask(address: string, more: object = {}, api: LlmApi = completions): Promise<Answer> {
  const reply = await broker.post(address, paths[api], { ...asked[api], ...more });
  const { error } = (await reply.json()) as any;
  return { status: reply.status, code: error?.code, message: error?.message };
}

test('an agent with a list of models calls those and its own, and is told which', async () => {
  await start({ agent: { models: ['acme/other', 'gone/x'] } });
  assert.equal((await ask(limited)).status, 200);
  assert.equal((await ask(limited, { model: 'default' })).status, 200);
  const refused = await ask(limited, { model: 'acme/dear' });
  assert.deepEqual(refused, {
    status: 403,
    code: 'model_not_allowed',
    message: 'The model acme/dear is not allowed. This agent may call: acme/m, acme/other, gone/x.',
  });
  for (const model of ['acme/Other', 'claude/m', 'acme/M']) {
    assert.notEqual((await ask(limited, { model })).status, 200, model);
  }
  assert.equal(llm.requests.length, 2);
  assert.equal((await ask(free, { model: 'acme/dear' })).status, 200, 'another has no list');
  await broker.close();
  await start({ agent: { models: ['acme/other'], spendLimited: false } });
  assert.equal((await ask(limited, { model: 'acme/other' })).status, 200);
});

test("an operator's list of models binds every agent, its own model too", async () => {
  await start({ change: { onlyModels: true } });
  assert.equal((await ask(free)).status, 200);
  const refused = await ask(free, { model: 'acme/dear' });
  assert.equal(refused.message, 'The model acme/dear is not allowed. Provider acme offers: acme/m.');
  await broker.close();
  await start({ change: { onlyModels: true }, agent: { model: 'acme/dear', models: ['acme/dear'] } });
  assert.equal((await ask(limited, { model: 'default' })).code, 'model_not_allowed');
});

test('under a spend limit a model without a known price is refused, named by the guest or the own one', async () => {
  await start();
  const refused = await ask(limited, { model: 'acme/unpriced' });
  assert.deepEqual([refused.status, refused.code], [403, 'unpriced_model']);
  assert.match(refused.message, /^The model acme\/unpriced has no known price, and a spend limit holds/);
  assert.equal((await ask(free, { model: 'acme/unpriced' })).status, 200, 'without a limit it passes');
  await broker.close();
  await start({ agent: { model: 'acme/unpriced' } });
  assert.equal((await ask(limited, { model: 'default' })).code, 'unpriced_model');
  assert.deepEqual([opened.length, llm.requests.length], [0, 1]);
});

test('where the operator wants it, such a model costs as much as the dearest known, and the row says that it is estimated', async () => {
  await start({ unpriced: 'dearest' });
  llm.rule(() => ({ text: 'x', usage: { input: 1000, output: 100 } }));
  assert.equal((await ask(limited, { model: 'acme/unpriced' })).status, 200);
  assert.equal((await ask(limited)).status, 200);
  assert.equal((await ask(free, { model: 'acme/unpriced' })).status, 200);
  assert.deepEqual(
    closed.map(({ costUsd, priceVersion, estimated }) => [costUsd, priceVersion, estimated]),
    [
      ['0.002', 'dearest-known', true],
      ['0.002', 'operator', false],
      [null, null, false],
    ],
  );
  assert.ok(Number(opened[0]!.estimate.costUsd) > 0.04);
});

test('the estimate is of the largest bound there is, of every answer that is asked for', async () => {
  await start();
  const expected = async (more: object, api: LlmApi = completions): Promise<number> => {
    await ask(free, more, api);
    return opened.at(-1)!.estimate.outputTokens;
  };
  assert.equal(await expected({ max_tokens: 70_000, max_completion_tokens: 1 }), 70_000);
  assert.equal(await expected({ max_completion_tokens: 70_000, max_tokens: 1 }), 70_000);
  assert.equal(await expected({ max_tokens: 100, n: 5 }), 500);
  assert.equal(await expected({ max_tokens: 100, best_of: 7, n: 2 }), 700);
  assert.equal(await expected({ n: 3 }), 3 * 4096);
  for (const odd of [-1, 1.5, '9', null, [1]]) assert.equal(await expected({ max_tokens: odd }), 4096, String(odd));
  assert.equal(await expected({ max_tokens: 9e15 }), 200_000, 'no model says so much');
  const google = 'google-generative-ai';
  assert.equal(await expected({ generation_config: { max_output_tokens: 9, candidate_count: 3 } }, google), 27);
  assert.equal(await expected({ generationConfig: { maxOutputTokens: 9, max_output_tokens: 50 } }, google), 50);
});

test('under a limit what the price list cannot price is refused by its name; without one it passes', async () => {
  await start();
  const tool = (type: string): object => ({ tools: [{ type: 'function', name: 'x' }, { type }] });
  const refusals: readonly (readonly [LlmApi, object, string])[] = [
    [completions, { service_tier: 'priority' }, 'service_tier'],
    [completions, { web_search_options: { search_context_size: 'low' } }, 'web_search_options'],
    [completions, { plugins: [{ id: 'web' }] }, 'plugins'],
    [completions, { models: ['acme/dear'] }, 'models'],
    [completions, { audio: { voice: 'x' } }, 'audio'],
    [completions, { deferred: true }, 'deferred'],
    [completions, tool('web_search'), 'tools[1]'],
    [completions, { tools: { type: 'web_search' } }, 'tools'],
    [completions, { max_tokens: '9' }, 'max_tokens'],
    [completions, { max_tokens: -1 }, 'max_tokens'],
    [completions, { n: 1.5 }, 'n'],
    ['openai-responses', tool('web_search'), 'tools[1]'],
    ['openai-responses', tool('code_interpreter'), 'tools[1]'],
    ['openai-responses', tool('file_search'), 'tools[1]'],
    ['openai-responses', tool('image_generation'), 'tools[1]'],
    ['openai-responses', tool('mcp'), 'tools[1]'],
    ['openai-responses', { prompt: { id: 'p' } }, 'prompt'],
    ['openai-responses', { previous_response_id: 'r' }, 'previous_response_id'],
    ['openai-responses', { service_tier: 'priority' }, 'service_tier'],
    ['anthropic-messages', { speed: 'fast' }, 'speed'],
    ['anthropic-messages', { mcp_servers: [{ type: 'url' }] }, 'mcp_servers'],
    ['anthropic-messages', { tools: [{ name: 'x' }, { type: 'web_search_20250305' }] }, 'tools[1]'],
    ['anthropic-messages', { tools: [{ name: 'x' }, { type: 'code_execution_20250825' }] }, 'tools[1]'],
    ['google-generative-ai', { tools: [{ functionDeclarations: [] }, { google_search: {} }] }, 'tools[1]'],
    ['google-generative-ai', { tools: [{ functionDeclarations: [], codeExecution: {} }] }, 'tools[0]'],
    ['google-generative-ai', { cachedContent: 'c' }, 'cachedContent'],
    ['google-generative-ai', { generationConfig: { candidateCount: '3' } }, 'generationConfig.candidateCount'],
  ];
  for (const [api, more, field] of refusals) {
    const { status, message } = await ask(limited, more, api);
    assert.ok(status === 403 || status === 400, `${field}: ${status}`);
    assert.ok(message.startsWith(`${field} `), `${field}: ${message}`);
    assert.equal((await ask(free, more, api)).status, 200, `${field} without a limit`);
  }
  assert.equal(llm.requests.length, refusals.length);
});

test('under a limit of who pays the asking agent picks no option without a price', async () => {
  await start({ agent: { spendLimited: false }, payerIsLimited: true });
  const { status, message } = await ask(limited, { service_tier: 'priority' });
  assert.equal(status, 403, message);
  assert.match(message, /^service_tier /);
});

test('under a limit what costs as usual passes: tools of the guest, usual tiers, empty fields', async () => {
  await start();
  const passes: readonly (readonly [LlmApi, object])[] = [
    [completions, { service_tier: 'auto', n: 1, tools: [{ type: 'function' }, { type: 'custom' }], plugins: [] }],
    [completions, { service_tier: null, tools: [], web_search_options: null, max_tokens: null }],
    ['openai-responses', { service_tier: 'default', tools: [{ type: 'function' }, { type: 'local_shell' }] }],
    [
      'anthropic-messages',
      { service_tier: 'standard_only', tools: [{ name: 'x' }, { type: 'bash_20250124' }, { type: 'memory_20250818' }] },
    ],
    ['google-generative-ai', { tools: [{ functionDeclarations: [] }], generationConfig: { candidateCount: 2 } }],
  ];
  for (const [api, more] of passes) {
    const { status, message } = await ask(limited, more, api);
    assert.equal(status, 200, `${api}: ${message}`);
  }
});

test('under a limit a guest that leaves early is booked with all that the answer may have cost', async () => {
  for (const whose of ['its own', "the payer's", 'nobody']) {
    const spendLimited = whose !== 'nobody';
    for (const reply of [{ hang: 'at-once' }, { chunks: ['a', 'b'], hang: 'after-first-chunk' }] as const) {
      await start({ agent: { spendLimited: whose === 'its own' }, payerIsLimited: whose === "the payer's" });
      llm.script([reply]);
      const seen = llm.requests.length;
      const abort = new AbortController();
      const body = { ...asked[completions], stream: true, max_tokens: 5000, n: 2 };
      const call = broker.post(limited, paths[completions], body, { signal: abort.signal });
      const over = assert.rejects(call.then((response) => response.text()));
      while (llm.requests.length === seen) await new Promise(setImmediate);
      if ('chunks' in reply) await call;
      abort.abort();
      await over;
      while (closed.length === 0) await new Promise(setImmediate);
      const [row] = closed;
      assert.deepEqual([row!.outcome, row!.estimated], ['cancelled', true]);
      if (spendLimited) assert.deepEqual([row!.outputTokens, row!.costUsd], [10_000, opened[0]!.estimate.costUsd]);
      else assert.ok(row!.outputTokens! < 10, `${row!.outputTokens}`);
      await broker.close();
    }
  }
  await start();
});

test('a guest that leaves behind a whole answer is booked with what was told', async () => {
  await start();
  const usage = { input: 70, output: 9 };
  llm.script([{ text: 'one two', usage }]);
  const answer = await broker.post(limited, paths[completions], { ...asked[completions], max_tokens: 5000 });
  await answer.text();
  assert.deepEqual([closed[0]!.outputTokens, closed[0]!.estimated], [9, false]);
});

test('a provider that breaks off is not counted against the guest beyond what it said', async () => {
  await start();
  llm.script([{ chunks: ['a', 'b', 'c'], cutAfterChunks: 2 }]);
  const body = { ...asked[completions], stream: true, max_tokens: 5000 };
  await assert.rejects((await broker.post(limited, paths[completions], body)).text());
  assert.ok(closed[0]!.outputTokens! < 10, `${closed[0]!.outputTokens}`);
});
