/** Webhooks from end to end: the API, the event store, the loop that delivers, and receivers on loopback. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { WebhookReceiver, taken } from '@lodge/testkit/webhook-receiver';
import { until as untilWithin } from '../../packages/testkit/src/plane/plane.ts';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

const until = (what: string, look: () => Promise<boolean> | boolean): Promise<void> => untilWithin(what, look, 20_000);

let world: World;
let receiver: WebhookReceiver;

before(async () => {
  world = await openWorld();
});
after(async () => {
  await world?.close();
});
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  for (const { id } of (await call('GET', '/v1/webhooks')).body.data) await call('DELETE', `/v1/webhooks/${id}`);
  await receiver.close();
});

// eslint-disable-next-line typescript/no-explicit-any -- a test looks into any reply
const call = async (
  method: string,
  path: string,
  body?: object,
  key = world.key,
): Promise<{ status: number; body: any }> => new Client(world, key).call(method, path.replace('/v1', ''), body);

async function made(fields: object = {}) {
  const { status, body } = await call('POST', '/v1/webhooks', { url: receiver.url, events: ['agent.*'], ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  receiver.secrets = [body.secret];
  return body;
}

async function agent(): Promise<string> {
  const { status, body } = await call('POST', '/v1/agents', { name: 'Agent' });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

const typesOf = (agentId: string): string[] =>
  receiver.received.filter(({ event }) => event.agent_id === agentId).map(({ event }) => event.type);

test('a receiver is told of what its patterns name, as the API shows it, in order and signed', async () => {
  await agent();
  const { id, secret, ...record } = await made();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual([record.events, record.enabled, record.secret_last4], [['agent.*'], true, secret.slice(-4)]);
  const agentId = await agent();
  await call('POST', `/v1/agents/${agentId}/pause`);
  await call('DELETE', `/v1/agents/${agentId}`);
  await until('it is told', () => typesOf(agentId).includes('agent.deleted'));
  const shown = (await call('GET', `/v1/events?agent_id=${agentId}&direction=asc`)).body.data;
  const deliveries = receiver.received.filter(({ event }) => event.agent_id === agentId);
  await until('all of it is told', () => typesOf(agentId).length >= shown.length);
  assert.deepEqual(
    receiver.received
      .filter(({ event }) => event.agent_id === agentId)
      .map(({ event }) => event)
      .slice(0, shown.length),
    shown,
  );
  assert.ok(
    receiver.received.every(({ event }) => event.type.startsWith('agent.')),
    'nothing else',
  );
  assert.equal(new Set(deliveries.map((each) => each.id)).size, deliveries.length);
  assert.deepEqual(receiver.refused, []);
  const { body } = await call('GET', `/v1/webhooks/${id}`);
  assert.ok(!('secret' in body));
});

test('what fails is tried again, later events of the same agent wait for it, and others do not', async () => {
  const [one, two] = [await agent(), await agent()];
  const { id } = await made({ events: ['agent.paused', 'agent.resumed'] });
  let isBroken = true;
  receiver.answer = (received, req, res) =>
    isBroken && received.event.agent_id === one ? void res.writeHead(500).end() : taken(received, req, res);
  await call('POST', `/v1/agents/${one}/pause`);
  await until('it was tried', () => typesOf(one).length > 0);
  await call('POST', `/v1/agents/${one}/resume`);
  await call('POST', `/v1/agents/${two}/pause`);
  await until('the other is told', () => typesOf(two).length === 1);
  assert.ok(!typesOf(one).includes('agent.resumed'));
  const failing = (await call('GET', `/v1/webhooks/${id}/deliveries?state=pending`)).body.data;
  assert.partialDeepStrictEqual(failing.at(-1), { event_type: 'agent.paused', response_status: 500, agent_id: one });
  assert.match(failing.at(-1).reason, /answered 500/);
  isBroken = false;
  await until('it is told in order', () => typesOf(one).at(-1) === 'agent.resumed');
  const ids = receiver.received.filter(({ event }) => event.type === 'agent.paused' && event.agent_id === one);
  assert.equal(new Set(ids.map((each) => each.id)).size, 1, 'a repetition has the id of the first');
});

test('a webhook is told of others, as the API shows it, and not of itself', async () => {
  const { id } = await made({ events: ['webhook.*'] });
  await call('PATCH', `/v1/webhooks/${id}`, { description: 'Told of others' });
  const other = await call('POST', '/v1/webhooks', { url: `${receiver.url}/other?token=1`, events: ['usage.*'] });
  const told = () => receiver.received.map(({ event }) => event).filter(({ type }) => type.startsWith('webhook.'));
  await until('it is told', () => told().length > 0);
  const [shown] = (await call('GET', '/v1/events?type=webhook.created&limit=1')).body.data;
  assert.deepEqual(told(), [shown]);
  assert.deepEqual(shown.data, { url: new URL(receiver.url).origin, webhook_id: other.body.id });
});

test('a test goes at once and once, and its reply tells how it went', async () => {
  const { id } = await made({ events: ['usage.*'] });
  const good = await call('POST', `/v1/webhooks/${id}/test`, {});
  assert.partialDeepStrictEqual(good, {
    status: 200,
    body: { state: 'delivered', response_status: 204, event_id: null },
  });
  assert.equal(receiver.received.at(-1)!.event.type, 'webhook.test');
  receiver.answer = (_received, _req, res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
  const bad = await call('POST', `/v1/webhooks/${id}/test`, {});
  assert.partialDeepStrictEqual(bad.body, { state: 'failed', response_status: 302, attempts: 1 });
  assert.match(bad.body.reason, /redirects are not followed/);
  receiver.answer = taken;
  const again = await call('POST', `/v1/webhooks/${id}/deliveries/${bad.body.id}/redeliver`, {});
  assert.equal(again.status, 200, JSON.stringify(again.body));
  await until('it is told again', async () => {
    const { data } = (await call('GET', `/v1/webhooks/${id}/deliveries?state=delivered`)).body;
    return data.some((each: { id: string }) => each.id === bad.body.id);
  });
});

test('a secret that is rotated signs beside the new one for a while, or not', async () => {
  const { id, secret } = await made();
  const { body } = await call('POST', `/v1/webhooks/${id}/rotate`, { overlap_seconds: 60 });
  assert.notEqual(body.secret, secret);
  assert.ok(body.previous_secret_until !== null);
  for (const good of [secret, body.secret]) {
    receiver.secrets = [good];
    assert.equal((await call('POST', `/v1/webhooks/${id}/test`, {})).body.state, 'delivered');
  }
  const { body: last } = await call('POST', `/v1/webhooks/${id}/rotate`, { overlap_seconds: 0 });
  assert.equal((await call('POST', `/v1/webhooks/${id}/test`, {})).body.state, 'failed');
  receiver.secrets = [last.secret];
  assert.equal((await call('POST', `/v1/webhooks/${id}/test`, {})).body.state, 'delivered');
});

test('a receiver that wants no more is disabled at once, with an event; enabled again it is told of what comes', async () => {
  const { id } = await made({ events: ['agent.paused', 'agent.resumed'] });
  const agentId = await agent();
  receiver.answer = (_received, _req, res) => void res.writeHead(410).end();
  await call('POST', `/v1/agents/${agentId}/pause`);
  await until('it is disabled', async () => !(await call('GET', `/v1/webhooks/${id}`)).body.enabled);
  const { body } = await call('GET', `/v1/webhooks/${id}`);
  assert.match(body.disabled_reason, /410/);
  const [event] = (await call('GET', '/v1/events?type=webhook.disabled')).body.data;
  assert.partialDeepStrictEqual(event, { data: { webhook_id: id } });
  assert.equal((await call('POST', `/v1/webhooks/${id}/test`, {})).body.error.code, 'webhook_disabled');
  receiver.answer = taken;
  await call('POST', `/v1/agents/${agentId}/resume`);
  const before = receiver.received.length;
  assert.equal((await call('PATCH', `/v1/webhooks/${id}`, { enabled: true })).body.disabled_reason, null);
  await call('POST', `/v1/agents/${agentId}/pause`);
  await until('it is told', () => receiver.received.length > before);
  assert.deepEqual(typesOf(agentId).slice(before), ['agent.paused']);
});

test("another account's webhooks are not there, and bad input names its field", async () => {
  const { id } = await made();
  const other = await world.keyOf(await world.newAccount());
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/test'],
    ['POST', '/rotate'],
    ['GET', '/deliveries'],
    ['POST', '/deliveries/1/redeliver'],
  ] as const) {
    const body = method === 'PATCH' ? { enabled: true } : method === 'POST' ? {} : undefined;
    const { status, body: reply } = await call(method, `/v1/webhooks/${id}${path}`, body, other);
    assert.deepEqual([status, reply.error?.code], [404, 'webhook_not_found'], `${method} ${path}`);
  }
  assert.deepEqual((await call('GET', '/v1/webhooks', undefined, other)).body.data, []);
  for (const [fields, field] of [
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'http://user:pass@example.com/' }, 'url'],
    [{ url: 'https://example.com/#x' }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['agent.pawsed'] }, 'events'],
    [{ events: ['*.*'] }, 'events'],
    [{ secret: 'x' }, 'secret'],
  ] as const) {
    const { status, body } = await call('POST', '/v1/webhooks', { url: receiver.url, events: ['*'], ...fields });
    assert.deepEqual([status, body.error?.code], [400, 'invalid_request'], JSON.stringify(fields));
    assert.ok(body.error.message.includes(field), body.error.message);
  }
  const reader = await world.keyOf(world.accountId, ['agents:read']);
  assert.equal((await call('POST', `/v1/webhooks/${id}/test`, {}, reader)).status, 403);
  assert.equal((await call('GET', `/v1/webhooks/${id}`, undefined, reader)).status, 200);
});

test('an account has a bounded number of them', async () => {
  const key = await world.keyOf(await world.newAccount());
  const statuses = await Promise.all(
    Array.from({ length: 24 }, async () => {
      const body = { url: receiver.url, events: ['*'], enabled: false };
      return (await call('POST', '/v1/webhooks', body, key)).status;
    }),
  );
  assert.equal(statuses.filter((status) => status === 201).length, 20);
  assert.equal(statuses.filter((status) => status === 429).length, 4);
});

test('no Idempotency-Key keeps a secret, and none makes a second webhook or rotates twice', async () => {
  const client = new Client(world);
  const once = (path: string, body: object, key: string) =>
    client.call('POST', path, body, { headers: { 'idempotency-key': key } });
  const create = () => once('/webhooks', { url: receiver.url, events: ['agent.*'] }, 'once');
  const [first, again] = [await create(), await create()];
  assert.deepEqual([first.status, again.status, again.body.error.code], [201, 409, 'idempotency_key_reused']);
  const rotate = () => once(`/webhooks/${first.body.id}/rotate`, {}, 'rotate-once');
  const [rotated, repeated] = [await rotate(), await rotate()];
  assert.deepEqual([rotated.status, repeated.status], [200, 409]);
  assert.ok(!`${again.text}${repeated.text}`.includes('whsec_'));
  const { rows } = await world.sql.query(`select key, body from idempotency_keys where key like '%once' order by key`);
  assert.deepEqual(rows, [
    { key: 'once', body: null },
    { key: 'rotate-once', body: null },
  ]);
  // The effect is known where the process died before it kept that there was a reply.
  await world.sql.query(`update idempotency_keys set done_at = null, lease_until = now() - interval '1 s'`);
  const [lost, lostRotation] = [await create(), await rotate()];
  assert.deepEqual([lost.status, lostRotation.status], [409, 409]);
  assert.match(lost.body.error.message, /lost with the secret/);
  assert.equal((await client.call('GET', '/webhooks')).body.data.length, 1);
  assert.equal((await client.call('GET', `/webhooks/${first.body.id}`)).body.secret_last4, rotated.body.secret_last4);
});
