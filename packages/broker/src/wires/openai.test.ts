import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonBody } from '../json/body.ts';
import { providerAt } from '../testing/harness.ts';
import { openai } from './openai.ts';
import { noTokens } from './wire.ts';

const provider = (id: string) => providerAt(id, 'https://example.com');

const usage = (value: object): (number | null)[] => {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = openai.count({ usage: value }, noTokens);
  return [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens];
};

test('usage in the words of each provider: cached tokens are no input, reasoning is output', () => {
  const openaiCached = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
  assert.deepEqual(usage(openaiCached), [100, 5, null, null]);
  assert.deepEqual(usage({ ...openaiCached, prompt_tokens_details: { cached_tokens: 64 } }), [36, 5, 64, null]);
  const openrouter = { cached_tokens: 20, cache_write_tokens: 30 };
  assert.deepEqual(usage({ ...openaiCached, prompt_tokens_details: openrouter }), [50, 5, 20, 30]);
  assert.deepEqual(usage({ ...openaiCached, prompt_cache_hit_tokens: 90 }), [10, 5, 90, null], 'DeepSeek');
  assert.deepEqual(usage({ ...openaiCached, cached_tokens: 7 }), [93, 5, 7, null], 'Moonshot');
  assert.deepEqual(usage({ ...openaiCached, total_tokens: 305 }), [100, 205, null, null], 'xAI, Google');
});

test('usage is found wherever a provider puts it; nonsense counts as nothing', () => {
  const reported = { prompt_tokens: 3, completion_tokens: 4 };
  for (const reply of [{ usage: reported }, { choices: [{ usage: reported }] }, { x_groq: { usage: reported } }]) {
    assert.equal(openai.count(reply, noTokens).outputTokens, 4);
  }
  for (const wrong of [null, [], {}, { prompt_tokens: -1, completion_tokens: 1 }, { prompt_tokens: '3' }, 'x']) {
    assert.deepEqual(openai.count({ usage: wrong }, noTokens), noTokens);
  }
});

const prepared = (asked: object, id: string) => {
  const body = JsonBody.of(Buffer.from(JSON.stringify(asked)));
  const { hideUsage } = openai.prepare(body, provider(id), 'm');
  const sent: any = JSON.parse(body.toBytes().toString());
  return { body: sent, hideUsage };
};

test('each provider is asked in the words it knows', () => {
  const messages = [
    { role: 'developer', content: 'be' },
    { role: 'user', content: 'hi' },
  ];
  const asked = { model: 'default', messages, max_completion_tokens: 9, store: false, stream: true };
  const mistral = prepared({ ...asked, stream_options: { include_usage: true } }, 'mistral');
  assert.deepEqual(mistral, {
    body: {
      model: 'm',
      messages: [{ role: 'system', content: 'be' }, messages[1]],
      max_tokens: 9,
      stream: true,
    },
    hideUsage: false,
  });
  const own = prepared({ ...asked, max_completion_tokens: undefined, max_tokens: 8 }, 'openai');
  assert.equal(own.body.max_completion_tokens, 8);
  assert.ok(!('max_tokens' in own.body));
  assert.deepEqual([own.body.messages, own.body.store, own.hideUsage], [messages, false, true]);
  const other = prepared(asked, 'groq');
  assert.equal(other.body.max_completion_tokens, 9);
  assert.deepEqual(other.body.stream_options, { include_usage: true });
  assert.ok(!('store' in other.body));
});

test('a request that does not stream is not asked for stream options', () => {
  const { body, hideUsage } = prepared({ messages: [] }, 'groq');
  assert.deepEqual([body, hideUsage], [{ model: 'm', messages: [] }, false]);
});

test('only the chunk that exists for usage alone is left out', () => {
  const reported = { prompt_tokens: 3, completion_tokens: 4 };
  assert.ok(openai.isUsageOnly({ choices: [], usage: reported }));
  assert.ok(!openai.isUsageOnly({ choices: [{ delta: {} }], usage: reported }));
  assert.ok(!openai.isUsageOnly({ choices: [], usage: null, prompt_filter_results: [] }));
});
