/** The service about itself: its health, its providers, and what a key may spend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openApp } from '../../../../../packages/testkit/src/plane/http/open-app.ts';

const operators = [
  {
    id: 'local',
    name: 'Local',
    base_url: 'http://10.9.8.7/v1',
    api: 'openai-completions',
    headers: { 'x-gateway-token': 'gateway-secret-1' },
    models: [{ name: 'big', context_window: 32_768, prices: { input: '0.25', output: '2' } }],
  },
];
let isBroken = false;
const { call, close } = await openApp({
  settings: { LODGE_PROVIDERS: JSON.stringify(operators) },
  api: (usual) => ({
    ...usual,
    ready: async () => {
      if (isBroken) throw new Error('connect ECONNREFUSED 10.1.2.3:5432');
      return usual.ready();
    },
  }),
});
after(close);

test('health needs no key and says what the start waits for; it is a 500 without details when the service cannot serve', async () => {
  const { status, body } = await call('GET', '/v1/health', { key: null });
  assert.deepEqual([status, body.status], [200, 'starting']);
  assert.match(body.step, /^fake: /, 'the start waits for its template');
  assert.match(body.version, /^\d+\.\d+\.\d+/);
  isBroken = true;
  const answer = await call('GET', '/v1/health', { key: null });
  isBroken = false;
  assert.deepEqual([answer.status, answer.body.error.code], [500, 'internal_error']);
  assert.doesNotMatch(answer.text, /10\.1/);
});

test("providers are listed with what they speak; an operator's without where it is reached or what is sent to it", async () => {
  const { status, body, text } = await call('GET', '/v1/providers', { key: 'agents:chat' });
  assert.equal(status, 200);
  const find = (wanted: string) => body.data.find(({ id }: { id: string }) => id === wanted);
  const { models, ...anthropic } = find('anthropic');
  assert.ok(Array.isArray(models));
  assert.deepEqual(anthropic, {
    object: 'provider',
    id: 'anthropic',
    name: 'Anthropic',
    base_url: 'https://api.anthropic.com/v1',
    apis: ['anthropic-messages'],
    key_header: 'x-api-key',
    needs_key: true,
    key_check: true,
    docs_url: 'https://docs.anthropic.com',
    built_in: true,
  });
  assert.deepEqual(find('local'), {
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
  });
  assert.doesNotMatch(text, /10\.9\.8\.7|gateway/);
});

test('any key is told what it may; what was spent is told to keys that may read usage', async () => {
  const { body } = await call('GET', '/v1/limits', { key: 'usage:read' });
  assert.equal(body.spend.daily.spent_usd, '0');
  for (const key of ['agents:read', 'agents:chat', 'agents:read,agents:write,agents:delete']) {
    const { status, body: others } = await call('GET', '/v1/limits', { key });
    assert.equal(status, 200);
    assert.deepEqual(others, { ...body, spend: null }, key);
  }
});
