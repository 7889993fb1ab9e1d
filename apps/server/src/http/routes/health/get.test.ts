import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

test('health needs no key and says what the start waits for', async () => {
  let ready = false;
  const { call } = testApp({ ready: () => ({ ready, step: ready ? null : 'building the image' }), version: '1.2.3' });
  const starting = await call('GET', '/v1/health', { key: null });
  assert.deepEqual(
    [starting.status, starting.body],
    [200, { status: 'starting', step: 'building the image', version: '1.2.3' }],
  );
  ready = true;
  assert.deepEqual((await call('GET', '/v1/health', { key: null })).body, {
    status: 'ok',
    step: null,
    version: '1.2.3',
  });
});

test('health is a 500 without details when the service cannot serve', async () => {
  const { call } = testApp({ ready: () => Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:5432')) });
  const answer = await call('GET', '/v1/health', { key: null });
  assert.deepEqual([answer.status, answer.body.error.code], [500, 'internal_error']);
  assert.doesNotMatch(answer.text, /10\.1/);
});
