import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../test-app.ts';

test('providers are listed without where they are reached', async () => {
  const { call } = testApp();
  const { status, body, text } = await call('GET', '/v1/providers', { key: 'agents:chat' });
  assert.equal(status, 200);
  assert.deepEqual(body.data, [
    { object: 'provider', id: 'anthropic', name: 'Anthropic', needs_key: true, built_in: true },
    { object: 'provider', id: 'local', name: 'Local', needs_key: false, built_in: false },
  ]);
  assert.doesNotMatch(text, /10\.9\.8\.7/);
});
