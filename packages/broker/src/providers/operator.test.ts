import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOperatorProviders } from './operator.ts';
import { builtinProviders } from './builtin.ts';

const parse = (value: unknown) => parseOperatorProviders(JSON.stringify(value));
const local = { id: 'local', base_url: 'http://127.0.0.1:11434/v1/' };

test('two fields are enough; the rest has the documented defaults', () => {
  assert.deepEqual(parse([local]), [
    {
      id: 'local',
      name: 'local',
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
      onlyModels: false,
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

test('every other field is taken over: APIs, headers, models with their prices', () => {
  const [provider] = parse([
    {
      id: 'gateway',
      base_url: 'https://gateway.example.com/v1',
      apis: ['openai-responses', 'openai-completions'],
      key_header: 'x-gateway-key',
      needs_key: true,
      docs_url: 'https://gateway.example.com/docs',
      headers: { 'x-tenant': 'lodge' },
      models: [{ name: 'big/one', context_window: 1000, prices: { input: '0.25', output: '2', cache_read: '0.025' } }],
    },
  ]);
  const endpoint = { baseUrl: 'https://gateway.example.com/v1', keyHeader: 'x-gateway-key' };
  assert.deepEqual(provider!.endpoints, { 'openai-responses': endpoint, 'openai-completions': endpoint });
  assert.equal(provider!.api, 'openai-responses');
  assert.deepEqual(provider!.keyCheck, { url: 'https://gateway.example.com/v1/models', keyHeader: 'x-gateway-key' });
  assert.deepEqual(provider!.headers, { 'x-tenant': 'lodge' });
  assert.deepEqual(provider!.models, [
    {
      name: 'big/one',
      contextWindow: 1000,
      prices: { input: '0.25', output: '2', cacheRead: '0.025', cacheWrite: null },
    },
  ]);
});

test('the models of a provider are a list of what it has, or all that may be asked of it', () => {
  const models = [{ name: 'one' }];
  const only = (more: object): boolean => parse([{ ...local, models, ...more }])[0]!.onlyModels;
  assert.deepEqual([only({}), only({ only_models: false }), only({ only_models: true })], [false, false, true]);
});

test('an entry of a known kind needs its address alone, or not even that', () => {
  const [azure, second, ollama] = parse([
    { id: 'azure-openai', base_url: 'https://acme.openai.azure.com/openai/v1' },
    { id: 'azure-east', preset: 'azure-openai', name: 'East', base_url: 'https://east.openai.azure.com/openai/v1' },
    { id: 'ollama' },
  ]);
  assert.deepEqual([azure!.name, azure!.needsKey, azure!.api], ['Azure OpenAI', true, 'openai-responses']);
  assert.equal(azure!.endpoints['openai-completions']!.keyHeader, 'api-key');
  assert.deepEqual([second!.name, second!.keyCheck!.keyHeader], ['East', 'api-key']);
  assert.deepEqual([ollama!.needsKey, ollama!.privateAddresses, ollama!.keyCheck], [false, true, null]);
});

test('a private address is meant where it is written out or said; a name alone says nothing', () => {
  const at = (base_url: string, more = {}): boolean => parse([{ id: 'x', base_url, ...more }])[0]!.privateAddresses;
  for (const host of ['127.0.0.1:1', '10.0.0.7', '192.168.1.2', '169.254.1.1', '[::1]', '[fd00::1]', 'localhost']) {
    assert.equal(at(`http://${host}/v1`), true, host);
    assert.equal(at(`http://${host}/v1`, { private_addresses: false }), false, host);
  }
  for (const host of ['llm.internal', '8.8.8.8', '[2606:4700::1]']) {
    assert.equal(at(`http://${host}/v1`), false, host);
    assert.equal(at(`http://${host}/v1`, { private_addresses: true }), true, host);
  }
});

test('a mistake is named by its field, and its value is not repeated', () => {
  const wrong: readonly [unknown, string][] = [
    [{ ...local, id: undefined }, '[0].id must be'],
    [{ ...local, id: 'Ollama' }, '[0].id must be'],
    [{ ...local, id: 'a/b' }, '[0].id must be'],
    [{ ...local, id: 'openai' }, '[0].id is the id of another provider'],
    [{ ...local, base_url: undefined }, '[0].base_url must be'],
    [{ ...local, base_url: 'ftp://s3cret' }, '[0].base_url must be an http'],
    [{ ...local, base_url: 'http://user:s3cret@h/v1' }, '[0].base_url must not hold'],
    [{ ...local, base_url: 'http://h/v1?key=s3cret' }, '[0].base_url must have no query'],
    [{ ...local, name: '' }, '[0].name must be'],
    [{ ...local, api: 's3cret' }, '[0].api must be openai-completions or'],
    [{ ...local, needs_key: 's3cret' }, '[0].needs_key must be'],
    [{ ...local, context_window: 0 }, '[0].context_window must be'],
    [{ ...local, apis: [] }, '[0].apis must be'],
    [{ ...local, apis: ['s3cret'] }, '[0].apis must be'],
    [{ ...local, preset: 's3cret' }, '[0].preset must be one of azure-openai, bedrock,'],
    [{ id: 'azure-openai' }, '[0].base_url must be'],
    [{ ...local, key_header: 'S3cret' }, '[0].key_header must be'],
    [{ ...local, key_header: 'content-length' }, '[0].key_header must be'],
    [{ ...local, key_check: 's3cret' }, '[0].key_check must be'],
    [{ ...local, docs_url: 'javascript:s3cret' }, '[0].docs_url must be'],
    [{ ...local, private_addresses: 1 }, '[0].private_addresses must be'],
    [{ ...local, headers: { host: 's3cret' } }, '[0].headers must be'],
    [{ ...local, headers: { 'x-a': 's3cret\r\nx-b: c' } }, '[0].headers must be'],
    [{ ...local, models: {} }, '[0].models must be an array'],
    [{ ...local, models: [{ name: 's3 cret' }] }, '[0].models[0].name must be'],
    [{ ...local, models: [{ name: 'm', s3: 1 }] }, '[0].models[0].s3 is not a field'],
    [{ ...local, models: [{ name: 'm', prices: { input: '1' } }] }, '[0].models[0].prices must have input and output'],
    [{ ...local, models: [{ name: 'm', prices: { input: '-1', output: '1' } }] }, '[0].models[0].prices.input must be'],
    [{ ...local, only_models: 1 }, '[0].only_models must be'],
    [{ ...local, only_models: true }, '[0].only_models needs at least one model'],
    [{ ...local, baseUrl: 's3cret' }, '[0].baseUrl is not a field'],
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
  assert.throws(() => parse([local, local]), /LODGE_PROVIDERS\[1\]\.id is the id of another/);
  assert.throws(() => parse({}), /must be a JSON array/);
  assert.throws(() => parseOperatorProviders('[s3cret'), /^Error: LODGE_PROVIDERS must be valid JSON\.$/);
});

test('built-in providers are reached by https only, need a key and have ids of their own', () => {
  assert.equal(new Set(builtinProviders.map(({ id }) => id)).size, builtinProviders.length);
  for (const { id, api, endpoints, needsKey, operatorAdded, privateAddresses } of builtinProviders) {
    assert.match(id, /^[a-z0-9]+$/);
    assert.ok(endpoints[api]);
    for (const { baseUrl } of Object.values(endpoints)) {
      assert.match(baseUrl, /^https:\/\/[a-z0-9.-]+(\/[^?#]*)?[^/]$/);
    }
    assert.deepEqual([needsKey, operatorAdded, privateAddresses], [true, false, false]);
  }
});
