import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { testApp } from '../../../../../packages/testkit/src/plane/http/test-app.ts';

test('the reference page needs no key, and its policy allows its own script and no other', async () => {
  const { app } = testApp();
  const page = await app.inject('/docs/');
  assert.equal(page.statusCode, 200);
  const script = /<script type="text\/javascript">([\s\S]*?)<\/script>/.exec(page.body)![1]!;
  assert.match(script, /\/v1\/openapi\.json/);
  const policy = String(page.headers['content-security-policy']);
  assert.ok(policy.includes(`'sha256-${createHash('sha256').update(script).digest('base64')}'`), policy);
  assert.doesNotMatch(/script-src[^;]*/.exec(policy)![0], /unsafe/);
  const library = await app.inject('/docs/js/scalar.js');
  assert.equal(library.statusCode, 200);
  await app.close();
});
