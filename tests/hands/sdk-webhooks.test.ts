/** The SDK's check of webhooks against the signatures of Standard Webhooks' own library. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Lodge, SignatureError, verifyWebhook } from '@lodge/sdk';
import { Webhook } from 'standardwebhooks';

const secret = `whsec_${randomBytes(24).toString('base64')}`;
const other = `whsec_${randomBytes(24).toString('base64')}`;
const payload = JSON.stringify({ object: 'event', id: '1', type: 'agent.paused', data: { name: 'ä' } });
const signed = (by: string, at = new Date()) => ({
  'webhook-id': 'e1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': new Webhook(by).sign('e1', at, payload),
});

test('a request that is signed by the secret gives its event, whatever form its headers have', async () => {
  const headers = signed(secret);
  for (const given of [headers, new Headers(headers), { 'Webhook-Id': 'e1', ...headers }]) {
    assert.equal((await verifyWebhook(payload, given, secret)).type, 'agent.paused');
  }
  assert.equal((await new Lodge().webhooks.verify(new TextEncoder().encode(payload), headers, secret)).id, '1');
  const both = `${signed(other)['webhook-signature']} ${headers['webhook-signature']}`;
  assert.equal((await verifyWebhook(payload, { ...headers, 'webhook-signature': both }, secret)).id, '1');
});

test('a request that is forged, changed, old or unsigned is refused', async () => {
  const headers = signed(secret);
  const old = signed(secret, new Date(Date.now() - 600_000));
  for (const [body, given, key] of [
    [payload, signed(other), secret],
    [`${payload} `, headers, secret],
    [payload, { ...headers, 'webhook-id': 'e2' }, secret],
    [payload, { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') }, secret],
    [payload, old, secret],
    [payload, signed(secret, new Date(Date.now() + 600_000)), secret],
    [payload, {}, secret],
    [payload, { ...headers, 'webhook-signature': 'v1,%%' }, secret],
    [payload, headers, 'whsec_'],
  ] as const) {
    await assert.rejects(verifyWebhook(body, given, key), SignatureError);
  }
  assert.equal((await verifyWebhook(payload, old, secret, { toleranceSeconds: 3_600 })).id, '1');
});
