import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import type { Provider, TokenUsage } from '@lodge/ports';
import { builtinProviders } from '../providers/builtin.ts';
import { parsePrices } from './overrides.ts';
import { createPriceBook, listVersion } from './price-book.ts';

const usage = (given: Partial<TokenUsage> = {}): TokenUsage => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  cacheWriteLongTokens: null,
  reasoningTokens: null,
  imageTokens: null,
  ...given,
});
const anthropic = builtinProviders.find(({ id }) => id === 'anthropic')!;
const local: Provider = {
  ...anthropic,
  id: 'local',
  operatorAdded: true,
  onlyModels: false,
  models: [
    { name: 'a/b', contextWindow: null, prices: { input: '0.1', output: '0.2', cacheRead: '0.01', cacheWrite: null } },
    { name: 'free', contextWindow: null, prices: null },
  ],
};
const book = createPriceBook([...builtinProviders, local], new Map());

test('the list prices models of built-in providers, cached tokens apart, exact to the last digit kept', () => {
  const price = (given: Partial<TokenUsage>) => book.price('anthropic', 'claude-sonnet-4-5', usage(given));
  assert.deepEqual(price({ inputTokens: 3, outputTokens: 1 }), { costUsd: '0.000024', version: listVersion });
  assert.equal(price({ cacheReadTokens: 1 })!.costUsd, '0.0000003');
  assert.equal(price({ cacheWriteTokens: 100 })!.costUsd, '0.000375');
  assert.equal(price({ cacheWriteTokens: 100, cacheWriteLongTokens: 40 })!.costUsd, '0.000465');
  assert.equal(price({ inputTokens: 1, cacheWriteTokens: 10, cacheWriteLongTokens: 40 })!.costUsd, '0.000063');
  assert.equal(price({ inputTokens: 99_700, outputTokens: 500, cacheReadTokens: 300 })!.costUsd, '0.30669');
  assert.equal(price({})!.costUsd, '0');
  assert.equal(
    book.price('google', 'gemini-2.5-flash-image', usage({ outputTokens: 100, imageTokens: 60 }))!.costUsd,
    '0.0019',
  );
});

test('a long context costs its own tier', () => {
  const price = (inputTokens: number) => book.price('google', 'gemini-2.5-pro', usage({ inputTokens }))!.costUsd;
  assert.equal(price(200_000), '0.25');
  assert.equal(price(200_001), '0.5000025');
});

test('the default model has a price, under every provider’s own name', () => {
  for (const [provider, model] of [
    ['anthropic', 'claude-sonnet-5'],
    ['openai', 'gpt-5'],
    ['xai', 'grok-4'],
    ['moonshot', 'kimi-k2-0905-preview'],
    ['openrouter', 'anthropic/claude-sonnet-4.5'],
    ['groq', 'llama-3.3-70b-versatile'],
    ['deepseek', 'deepseek-chat'],
  ] as const) {
    assert.ok(Number(book.price(provider, model, usage({ inputTokens: 1000 }))!.costUsd) > 0, `${provider}/${model}`);
  }
});

test('what has no known price is null, and never free', () => {
  const some = usage({ inputTokens: 1000, outputTokens: 10 });
  assert.equal(book.price('openai', 'gpt-of-tomorrow', some), null);
  assert.equal(book.price('nobody', 'gpt-5', some), null);
  assert.equal(book.price('local', 'free', some), null, 'the operator named no price');
  assert.equal(book.price('local', 'claude-sonnet-5', some), null, "an operator's provider is not Anthropic");
  assert.equal(
    book.price('openai', 'gpt-5', usage({ inputTokens: null, outputTokens: null })),
    null,
    'nothing is known',
  );
  const lookalike = createPriceBook([{ ...anthropic, id: 'openai-proxy' }], new Map());
  assert.equal(lookalike.price('openai-proxy', 'gpt-5', some), null);
});

test("the operator's prices come first, by setting before a provider's entry", () => {
  const some = usage({ inputTokens: 3, outputTokens: 7, cacheReadTokens: 11, cacheWriteTokens: 13 });
  // 3 * 0.1 + 7 * 0.2 + 11 * 0.01 + 13 * 0.1, by a million.
  assert.deepEqual(book.price('local', 'a/b', some), { costUsd: '0.00000311', version: 'operator' });
  const set = parsePrices(
    '{"local/a/b":{"input":"1","output":"0"},"openai/gpt-5":{"input":"0.000000000001","output":"0"}}',
  );
  const own = createPriceBook([...builtinProviders, local], set);
  assert.equal(own.price('local', 'a/b', some)!.costUsd, '0.000027');
  assert.equal(own.price('openai', 'gpt-5', usage({ inputTokens: 1 }))!.costUsd, '0.000000000000000001');
  assert.equal(own.price('openai', 'gpt-5', usage({ outputTokens: 5 }))!.costUsd, '0');
});

test('a setting that is wrong is refused by the name of what is wrong', () => {
  for (const [json, names] of [
    ['{', /LODGE_PRICES must be valid JSON/],
    ['[]', /LODGE_PRICES must be an object/],
    ['{"gpt-5":{"input":"1","output":"1"}}', /"gpt-5"/],
    ['{"openai/gpt-5":{"input":"1"}}', /LODGE_PRICES.openai\/gpt-5 must have input and output/],
    ['{"openai/gpt-5":{"input":1.25,"output":"1"}}', /\.input must be US dollars/],
    ['{"openai/gpt-5":{"input":"-1","output":"1"}}', /\.input/],
    ['{"openai/gpt-5":{"input":"1","output":"1","cached":"1"}}', /\.cached is not a field/],
  ] as const) {
    assert.throws(() => parsePrices(json), names);
  }
});

test('the version that rows name is the one that is installed', () => {
  const entry = fileURLToPath(import.meta.resolve('@pydantic/genai-prices'));
  const { version } = JSON.parse(readFileSync(entry.replace(/dist.*$/, 'package.json'), 'utf8')) as { version: string };
  assert.equal(listVersion, `genai-prices/${version}`);
});

test('a price takes far less than a millisecond', (t) => {
  const some = usage({ inputTokens: 1000, outputTokens: 10 });
  const before = process.cpuUsage();
  for (let n = 0; n < 200; n += 1) book.price('openrouter', 'anthropic/claude-sonnet-4.5', some);
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1000 / 200;
  t.diagnostic(`${ms.toFixed(3)} ms`);
  assert.ok(ms < 5);
});

test('the dearest known price is the provider’s own dearest, each direction by itself, and of all where it has none', () => {
  const more: Provider = {
    ...local,
    id: 'two',
    models: [
      { name: 'a', contextWindow: null, prices: { input: '3', output: '4', cacheRead: null, cacheWrite: null } },
      { name: 'b', contextWindow: null, prices: { input: '1', output: '9', cacheRead: null, cacheWrite: '5' } },
    ],
  };
  const none: Provider = { ...local, id: 'none', models: [] };
  const own = createPriceBook([more, none], new Map());
  const million = (given: Partial<TokenUsage>): TokenUsage =>
    usage(Object.fromEntries(Object.entries(given).map(([key, n]) => [key, Number(n) * 1e6])));
  for (const provider of ['two', 'none']) {
    assert.equal(own.dearest(provider, million({ inputTokens: 1 }))!.costUsd, '3', provider);
    assert.equal(own.dearest(provider, million({ outputTokens: 1 }))!.costUsd, '9', provider);
    assert.equal(own.dearest(provider, million({ cacheReadTokens: 1, cacheWriteTokens: 1 }))!.costUsd, '8', provider);
  }
  assert.equal(createPriceBook([none], new Map()).dearest('none', million({ inputTokens: 1 })), null);
  const listed = createPriceBook(builtinProviders, new Map());
  for (const [model, given] of [
    ['claude-opus-4-1', { inputTokens: 1 }],
    ['claude-opus-4-1', { outputTokens: 1 }],
    ['claude-sonnet-4-5', { cacheWriteTokens: 1 }],
  ] as const) {
    const dearest = Number(listed.dearest('anthropic', million(given))!.costUsd);
    assert.ok(dearest >= Number(listed.price('anthropic', model, million(given))!.costUsd), model);
  }
});
