import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOperatorProviders } from './operator-providers.ts';
import { builtinProviders } from './providers.ts';

const parse = (value: unknown) => parseOperatorProviders(JSON.stringify(value));
const ollama = { id: 'ollama', base_url: 'http://127.0.0.1:11434/v1/' };

test('two fields are enough; the rest has the documented defaults', () => {
  assert.deepEqual(parse([ollama]), [
    {
      id: 'ollama',
      name: 'ollama',
      api: 'openai-completions',
      endpoints: {
        'openai-completions': { baseUrl: 'http://127.0.0.1:11434/v1', keyHeader: 'authorization' },
      },
      needsKey: false,
      keyCheck: null,
      docsUrl: null,
      headers: {},
      models: [],
      operatorAdded: true,
      privateAddresses: true,
      contextWindow: null,
    },
  ]);
  assert.deepEqual(parse([]), []);
});

test('every field is taken over', () => {
  const [provider] = parse([
    {
      id: 'my.proxy-2',
      base_url: 'https://llm.example.com',
      name: 'Proxy',
      api: 'anthropic-messages',
      needs_key: true,
      context_window: 200_000,
    },
  ]);
  assert.deepEqual(
    [
      provider!.name,
      provider!.api,
      provider!.endpoints[provider!.api]!.baseUrl,
      provider!.needsKey,
      provider!.contextWindow,
    ],
    ['Proxy', 'anthropic-messages', 'https://llm.example.com', true, 200_000],
  );
});

test('a mistake is named by its field, and its value is not repeated', () => {
  const wrong: readonly [unknown, string][] = [
    [{ ...ollama, id: undefined }, '[0].id must be'],
    [{ ...ollama, id: 'Ollama' }, '[0].id must be'],
    [{ ...ollama, id: 'a/b' }, '[0].id must be'],
    [{ ...ollama, id: 'openai' }, '[0].id is the id of another provider'],
    [{ ...ollama, base_url: undefined }, '[0].base_url must be'],
    [{ ...ollama, base_url: 'ftp://s3cret' }, '[0].base_url must be an http'],
    [{ ...ollama, base_url: 'http://user:s3cret@h/v1' }, '[0].base_url must not hold'],
    [{ ...ollama, base_url: 'http://h/v1?key=s3cret' }, '[0].base_url must have no query'],
    [{ ...ollama, name: '' }, '[0].name must be'],
    [{ ...ollama, api: 's3cret' }, '[0].api must be openai-completions or anthropic-messages'],
    [{ ...ollama, needs_key: 's3cret' }, '[0].needs_key must be'],
    [{ ...ollama, context_window: 0 }, '[0].context_window must be'],
    [{ ...ollama, baseUrl: 's3cret' }, '[0].baseUrl is not a field'],
    ['s3cret', '[0] must be an object'],
    [[], '[0] must be an object'],
  ];
  for (const [entry, message] of wrong) {
    assert.throws(
      () => parse([entry]),
      (error: Error) => error.message.startsWith(`LODGE_PROVIDERS${message}`) && !error.message.includes('s3cret'),
      message,
    );
  }
  assert.throws(() => parse([ollama, ollama]), /LODGE_PROVIDERS\[1\]\.id is the id of another/);
  assert.throws(() => parse({}), /must be a JSON array/);
  assert.throws(() => parseOperatorProviders('[s3cret'), /^Error: LODGE_PROVIDERS must be valid JSON\.$/);
});

test('built-in providers are reached by https only, need a key and have ids of their own', () => {
  assert.equal(new Set(builtinProviders.map(({ id }) => id)).size, builtinProviders.length);
  for (const { id, api, endpoints, needsKey, operatorAdded, privateAddresses } of builtinProviders) {
    assert.match(id, /^[a-z0-9]+$/);
    assert.ok(endpoints[api]);
    for (const { baseUrl } of Object.values(endpoints)) {
      assert.match(baseUrl, /^https:\/\/[a-z0-9.-]+\/[^?#]*[^/]$/);
    }
    assert.deepEqual([needsKey, operatorAdded, privateAddresses], [true, false, false]);
  }
});
