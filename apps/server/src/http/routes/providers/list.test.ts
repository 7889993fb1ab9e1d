import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

test("providers are listed with what they speak; an operator's without where it is reached or what is sent to it", async () => {
  const { call } = testApp();
  const { status, body, text } = await call('GET', '/v1/providers', { key: 'agents:chat' });
  assert.equal(status, 200);
  assert.deepEqual(body.data, [
    {
      object: 'provider',
      id: 'anthropic',
      name: 'Anthropic',
      base_url: 'https://example.com',
      apis: ['anthropic-messages'],
      key_header: 'x-api-key',
      needs_key: true,
      key_check: false,
      docs_url: 'https://example.com/docs',
      models: [],
      built_in: true,
    },
    {
      object: 'provider',
      id: 'local',
      name: 'Local',
      base_url: null,
      apis: ['openai-completions'],
      key_header: 'authorization',
      needs_key: false,
      key_check: false,
      docs_url: null,
      models: [
        {
          id: 'big',
          context_window: 32_768,
          prices: { input: '0.25', output: '2', cache_read: null, cache_write: null },
        },
      ],
      built_in: false,
    },
  ]);
  assert.doesNotMatch(text, /10\.9\.8\.7|gateway/);
});
