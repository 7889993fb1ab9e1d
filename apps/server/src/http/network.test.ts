/** Access to the API: other origins, compressed replies, its own TLS, and a proxy's headers about the caller. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { selfSigned } from './listener/testing/certificate.ts';
import type { OpenedApp } from '../../../../packages/testkit/src/plane/http/open-app.ts';
import { openApp } from '../../../../packages/testkit/src/plane/http/open-app.ts';

const origin = 'https://app.example.com';
const tls = selfSigned();
const closed = await openApp({ settings: { LODGE_TRUSTED_PROXIES: '10.0.0.0/8' } });
const open = await openApp({
  settings: { LODGE_CORS_ORIGINS: origin, LODGE_TRUSTED_PROXIES: '127.0.0.1' },
  api: (usual) => ({ ...usual, network: { ...usual.network!, tls } }),
});
after(async () => {
  await closed.close();
  await open.close();
});

test('no page of another origin may call the API, unless the operator names it', async () => {
  const refused = await closed.call('GET', '/v1/agents', { headers: { origin } });
  assert.equal(refused.headers['access-control-allow-origin'], undefined);
  const allowed = await open.call('GET', '/v1/agents', { headers: { origin } });
  assert.equal(allowed.headers['access-control-allow-origin'], origin);
  assert.equal(allowed.headers['access-control-allow-credentials'], undefined, 'no cookies');
  const stranger = await open.call('GET', '/v1/agents', { headers: { origin: 'https://evil.example.com' } });
  assert.notEqual(stranger.headers['access-control-allow-origin'], 'https://evil.example.com');
  const kept = await open.call('GET', '/v1/openapi.json', { key: null, headers: { origin } });
  assert.match(
    String(kept.headers['vary']).toLowerCase(),
    /^origin, accept-encoding$/,
    'a cache keeps it for this origin',
  );
  const preflight = await open.call('OPTIONS', '/v1/agents', {
    key: null,
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' },
  });
  assert.ok(preflight.status === 204 || preflight.status === 200, String(preflight.status));
  assert.match(String(preflight.headers['access-control-allow-headers']), /X-API-Key/i);
});

test('long JSON is compressed for who takes it, and only then', async () => {
  const { app, call, agent, key } = closed;
  for (let count = 0; count < 3; count += 1) await agent();
  const plain = await call('GET', '/v1/agents?limit=100');
  assert.equal(plain.headers['content-encoding'], undefined);
  const headers = { 'x-api-key': await key('all'), 'accept-encoding': 'br' };
  const packed = await app.inject({ method: 'GET', url: '/v1/agents?limit=100', headers });
  assert.equal(packed.headers['content-encoding'], 'br');
  assert.equal(brotliDecompressSync(packed.rawPayload).toString(), plain.text);
  const short = await call('GET', '/v1/health', { headers: { 'accept-encoding': 'br' } });
  assert.equal(short.headers['content-encoding'], undefined);
});

test('with certificate and key the API answers over TLS', async () => {
  const { port } = open.app.server.address() as AddressInfo;
  const status = await new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/v1/health', ca: tls.cert }, (reply) =>
      resolve(reply.resume().statusCode),
    )
      .on('error', reject)
      .end();
  });
  assert.equal(status, 200);
});

test('who asks is what a trusted proxy says, and nobody else is believed', async () => {
  const isCounted = async ({ call, sql }: OpenedApp): Promise<boolean> => {
    await call('GET', '/v1/agents', { key: null, headers: { 'x-forwarded-for': '203.0.113.9' } });
    return (await sql("select from rate_buckets where subject like '%203.0.113.9%'")).length > 0;
  };
  assert.deepEqual([await isCounted(closed), await isCounted(open)], [false, true]);
});
