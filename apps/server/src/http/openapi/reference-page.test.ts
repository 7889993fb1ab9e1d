import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { openApp } from '../../../../../packages/testkit/src/plane/http/open-app.ts';

const { app, sql, close } = await openApp();
after(close);

test('the reference page needs no key, and its policy allows its own script and no other', async () => {
  const page = await app.inject('/docs/reference/api/');
  assert.equal(page.statusCode, 200);
  const script = /<script type="text\/javascript">([\s\S]*?)<\/script>/.exec(page.body)![1]!;
  assert.match(script, /\/v1\/openapi\.json/);
  for (const way of ['/docs/', '/']) assert.ok(page.body.includes(`<a href="${way}">`), `a way to ${way}`);
  const policy = String(page.headers['content-security-policy']);
  assert.ok(policy.includes(`'sha256-${createHash('sha256').update(script).digest('base64')}'`), policy);
  assert.doesNotMatch(/script-src[^;]*/.exec(policy)![0], /unsafe/);
  assert.equal((await app.inject('/docs/reference/api?x')).headers.location, '/docs/reference/api/');
});

test('the page names its script by content: a browser asks for it once', async () => {
  const page = await app.inject('/docs/reference/api/');
  const path = /src="(js\/scalar\.js\?v=[\w-]+)"/.exec(page.body)![1]!;
  const named = await app.inject(`/docs/reference/api/${path}`);
  assert.match(String(named.headers['cache-control']), /immutable/);
  const plain = await app.inject('/docs/reference/api/js/scalar.js');
  assert.deepEqual([plain.statusCode, plain.headers['cache-control']], [200, 'no-cache']);
  const { etag } = plain.headers;
  const again = await app.inject({
    url: '/docs/reference/api/js/scalar.js',
    headers: { 'if-none-match': String(etag) },
  });
  assert.deepEqual([again.statusCode, again.rawPayload.length], [304, 0]);
  const packed = await app.inject({
    url: '/docs/reference/api/js/scalar.js',
    headers: { 'accept-encoding': 'deflate, gzip' },
  });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.ok(gunzipSync(packed.rawPayload).equals(plain.rawPayload));
  const head = await app.inject({ method: 'HEAD', url: '/docs/reference/api/js/scalar.js' });
  assert.deepEqual([head.statusCode, Number(head.headers['content-length'])], [200, plain.rawPayload.length]);
});

test('what needs no key is counted by address, pages apart from the rest', async () => {
  const asked = async (url: string): Promise<string | undefined> => {
    const address = `10.0.0.${asked.from++}`;
    await app.inject({ url, remoteAddress: address });
    const [bucket] = await sql('select subject from rate_buckets where subject like $1', [`%${address}%`]);
    return bucket && String(bucket['subject']).replace(address, 'it');
  };
  asked.from = 100;
  for (const url of [
    '/docs/reference/api/',
    '/docs/reference/api/js/scalar.js',
    '/docs/nothing',
    '/llms.txt',
    '/account',
    '/account/assets/x.js',
  ]) {
    assert.equal(await asked(url), 'address:it:pages', url);
  }
  for (const url of ['/', '/v1/openapi.json', '/v1/health', '/v1/hooks/none', '/nothing']) {
    assert.equal(await asked(url), 'address:it', url);
  }
});
