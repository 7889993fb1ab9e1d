import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

test('any key is told what it may; what was spent is told to keys that may read usage', async () => {
  const { call } = testApp();
  const { body } = await call('GET', '/v1/limits', { key: 'usage:read' });
  assert.equal(body.spend.daily.spent_usd, '0');
  for (const key of ['agents:read', 'agents:chat', 'agents:read,agents:write,agents:delete']) {
    const { status, body: others } = await call('GET', '/v1/limits', { key });
    assert.equal(status, 200);
    assert.deepEqual(others, { ...body, spend: null }, key);
  }
});
