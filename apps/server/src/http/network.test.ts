/** Access to the API: other origins, compressed replies, its own TLS, and a proxy's headers about the caller. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import type { NetworkSettings } from './context.ts';
import { selfSigned } from './listener/testing/certificate.ts';
import { agentRow, openLimits, testApp } from '../../../../packages/testkit/src/plane/http/test-app.ts';

const settings: NetworkSettings = { maxConnections: 100, trustedProxies: [], corsOrigins: [] };
const origin = 'https://app.example.com';

test('no page of another origin may call the API, unless the operator names it', async () => {
  const closed = testApp({ network: settings });
  const refused = await closed.call('GET', '/v1/agents', { headers: { origin } });
  assert.equal(refused.headers['access-control-allow-origin'], undefined);
  const open = testApp({ network: { ...settings, corsOrigins: [origin] } });
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
  await Promise.all([closed.app.close(), open.app.close()]);
});

test('long JSON is compressed for who takes it, and only then', async () => {
  const { app, agents, call } = testApp();
  for (let count = 0; count < 20; count += 1) agents.rows.push(agentRow({ name: `Agent ${count}` }));
  const plain = await call('GET', '/v1/agents?limit=100');
  assert.equal(plain.headers['content-encoding'], undefined);
  const headers = { 'x-api-key': 'all', 'accept-encoding': 'br' };
  const packed = await app.inject({ method: 'GET', url: '/v1/agents?limit=100', headers });
  assert.equal(packed.headers['content-encoding'], 'br');
  assert.equal(brotliDecompressSync(packed.rawPayload).toString(), plain.text);
  const short = await call('GET', '/v1/health', { headers: { 'accept-encoding': 'br' } });
  assert.equal(short.headers['content-encoding'], undefined);
  await app.close();
});

test('with certificate and key the API answers over TLS', async () => {
  const tls = selfSigned();
  const { app } = testApp({ network: { ...settings, tls } });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  assert.match(url, /^https:/);
  const status = await new Promise((resolve, reject) => {
    request(`${url}/v1/health`, { ca: tls.cert }, (reply) => resolve(reply.resume().statusCode))
      .on('error', reject)
      .end();
  });
  assert.equal(status, 200);
  await app.close();
});

test('who asks is what a trusted proxy says, and nobody else is believed', async () => {
  const asked = async (trustedProxies: readonly string[]): Promise<string[]> => {
    const subjects: string[] = [];
    const { app, call } = testApp({ network: { ...settings, trustedProxies }, limits: openLimits(subjects) });
    await call('GET', '/v1/agents', { key: null, headers: { 'x-forwarded-for': '203.0.113.9' } });
    await app.close();
    return subjects;
  };
  assert.ok(!(await asked([])).some((subject) => subject.includes('203.0.113.9')));
  assert.ok((await asked(['127.0.0.1'])).some((subject) => subject.includes('203.0.113.9')));
  assert.ok(!(await asked(['10.0.0.0/8'])).some((subject) => subject.includes('203.0.113.9')));
});
