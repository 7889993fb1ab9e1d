import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

const id = 'a'.repeat(12);

test('200 says of each key whether it works, without the key; the key itself is in no reply', async () => {
  const { call, agents } = testApp();
  agents.rows = [agentRow({ id })];
  agents.checked = [
    { provider: 'openai', last4: '9f2c', works: null, message: 'OpenAI could not be reached.' },
    { provider: 'anthropic', last4: 'h3Qw', works: true, message: 'The key works: Anthropic accepts it.' },
  ];
  const { status, body } = await call('POST', `/v1/agents/${id}/llm_keys/check`);
  assert.equal(status, 200);
  assert.deepEqual(
    body.data.map(({ object, provider, works }: any) => [object, provider, works]),
    [
      ['llm_key_check', 'anthropic', true],
      ['llm_key_check', 'openai', null],
    ],
  );
});

test('403 without agents:write, 404 for an agent that is not there, 400 for a body that says something', async () => {
  const { call, agents } = testApp();
  agents.rows = [agentRow({ id })];
  const path = `/v1/agents/${id}/llm_keys/check`;
  assert.equal((await call('POST', path, { key: 'agents:read' })).status, 403);
  assert.equal((await call('POST', `/v1/agents/${'b'.repeat(12)}/llm_keys/check`)).status, 404);
  const wrong = await call('POST', path, { body: { key: 'x' } });
  assert.deepEqual([wrong.status, wrong.body.error.code], [400, 'invalid_request']);
});
