/**
 * A principal is an API key or a session: this tests its rights, its limits, and the origins from which a cookie is
 * accepted.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testWorld } from '../../../../../packages/testkit/src/plane/http/account-area.ts';
import type { Reply } from '../../../../../packages/testkit/src/plane/http/account-area.ts';

const world = await testWorld();
after(() => world.close());
const { owner } = world;

const outcome = ({ status, body }: Reply) => [status, body?.error?.code];
const agent = { name: 'Mine' };

test('a person signed in reads and changes what a key does, in their own account alone', async () => {
  const [me, other] = [await world.member(), await world.member()];
  const made = await me.call('POST', '/v1/agents?wait=false', agent);
  assert.equal(made.status, 202, made.text);
  const path = `/v1/agents/${made.body.id}`;
  assert.equal((await me.call('GET', path)).status, 200);
  assert.equal((await me.call('PATCH', path, { name: 'Renamed' })).body.name, 'Renamed');
  for (const stranger of [other, owner]) {
    assert.deepEqual(outcome(await stranger.call('GET', path)), [404, 'agent_not_found']);
    assert.deepEqual(outcome(await stranger.call('DELETE', path)), [404, 'agent_not_found']);
  }
  assert.equal((await me.call('DELETE', `${path}?wait=false`)).status, 202);
});

test('the order of checks is the same as for a key', async () => {
  const me = await world.member();
  assert.deepEqual(outcome(await me.call('GET', '/v1/nowhere')), [404, 'route_not_found']);
  assert.deepEqual(outcome(await me.call('PUT', '/v1/agents', {})), [405, 'method_not_allowed']);
  assert.deepEqual(outcome(await me.call('POST', '/v1/agents', { nome: 'x' })), [400, 'invalid_request']);
  assert.deepEqual(outcome(await me.call('POST', `/v1/agents/${'a'.repeat(12)}/stop`)), [404, 'agent_not_found']);
});

test('a viewer reads, and is told which scope anything else takes', async () => {
  const viewer = await world.member('viewer');
  for (const path of ['/v1/agents', '/v1/audit-events', '/v1/account', '/v1/account/spend', '/v1/limits']) {
    assert.equal((await viewer.call('GET', path)).status, 200, path);
  }
  const id = 'a'.repeat(12);
  for (const [method, path, body, scope] of [
    ['POST', '/v1/agents', agent, 'agents:write'],
    ['PATCH', '/v1/account', { record_llm_calls: true }, 'agents:write'],
    ['DELETE', `/v1/agents/${id}`, undefined, 'agents:delete'],
    ['POST', `/v1/agents/${id}/links`, {}, 'agents:write'],
    ['POST', `/v1/agents/${id}/exec`, { command: 'true' }, 'agents:write'],
    ['GET', `/v1/agents/${id}/terminal`, undefined, 'agents:write'],
    ['GET', `/v1/agents/${id}/files/x?wake=true`, undefined, 'agents:write'],
    ['POST', `/v1/agents/${id}/chat/completions`, {}, 'agents:write or agents:chat'],
  ] as const) {
    const reply = await viewer.call(method, path, body);
    assert.deepEqual(outcome(reply), [403, 'insufficient_scope'], path);
    assert.ok(reply.body.error.message.includes(`Your role lacks the scope ${scope}`), reply.body.error.message);
  }
});

test("a request with a key and a cookie is the key's, a wrong key among it", async () => {
  const me = await world.member();
  const headers = { 'x-api-key': world.firstKey, 'x-csrf-token': undefined, origin: undefined };
  const made = await me.call('POST', '/v1/agents?wait=false', agent, headers);
  assert.equal(made.status, 202, 'a key takes no token of a session');
  const path = `/v1/agents/${made.body.id}`;
  assert.equal((await me.call('GET', path)).status, 404, "it is of the key's account");
  assert.equal((await owner.call('GET', path)).status, 200);
  assert.deepEqual(outcome(await owner.call('GET', path, undefined, { 'x-api-key': 'x' })), [401, 'invalid_api_key']);
  const { body } = await me.call('GET', '/v1/account', undefined, { authorization: `Bearer ${world.firstKey}` });
  assert.deepEqual(Object.keys(body).toSorted(), ['created_at', 'id', 'name', 'object', 'record_llm_calls']);
  assert.equal((await me.call('GET', '/v1/account')).body.email, me.email);
});

test('a cookie of a session that has ended is not_signed_in, no cookie at all missing_api_key; both name Bearer', async () => {
  const me = await world.member();
  const { cookie } = me;
  await me.call('POST', '/sign-out', {});
  for (const [headers, code] of [
    [{ cookie: cookie! }, 'not_signed_in'],
    [{ cookie: `lodge_session=${'a'.repeat(43)}` }, 'not_signed_in'],
    [{ cookie: 'lodge_session=' }, 'missing_api_key'],
    [{ cookie: 'other=1; __Host-lodge_session=x; xlodge_session=y' }, 'missing_api_key'],
    [{}, 'missing_api_key'],
    [{ authorization: 'Basic YTpi' }, 'missing_api_key'],
  ] as const) {
    const reply = await world.browser().call('GET', '/v1/agents', undefined, headers);
    assert.deepEqual(outcome(reply), [401, code], JSON.stringify(headers));
    assert.equal(reply.headers['www-authenticate'], 'Bearer');
  }
});

/** A browser's headers for a foreign page; the origin of an agent's page is of the same site. */
const agents = 'http://openclaw-abcdefghijkl.agents.localhost:8080';
const foreign: Record<string, string | undefined>[] = [
  { origin: agents },
  { origin: agents, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { origin: 'null' },
  { origin: 'null', 'sec-fetch-site': 'cross-site' },
  { origin: 'https://evil.example' },
  { origin: 'http://localhost:8081' },
  { origin: agents, 'sec-fetch-site': 'none' },
];

test('no page but ours reads by the cookie, and what is read is embedded nowhere else', async () => {
  const me = await world.member();
  const id = (await me.call('POST', '/v1/agents?wait=false', agent)).body.id;
  const paths = ['/v1/agents', `/v1/agents/${id}`, `/v1/agents/${id}/logs?follow=true`, '/v1/account/session'];
  for (const headers of foreign) {
    for (const path of paths) {
      const reply = await me.call('GET', path, undefined, headers);
      assert.deepEqual(outcome(reply), [403, 'csrf_refused'], `${path} ${JSON.stringify(headers)}`);
      assert.equal(reply.headers['access-control-allow-origin'], undefined);
    }
  }
  for (const headers of [{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }]) {
    const reply = await me.call('GET', '/v1/agents', undefined, headers);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers['cross-origin-resource-policy'], 'same-origin');
  }
});

test('no page but ours changes anything by the cookie, the token of the session beside it or not', async () => {
  const me = await world.member();
  const path = `/v1/agents/${(await me.call('POST', '/v1/agents?wait=false', agent)).body.id}`;
  const before = (await me.call('GET', '/v1/agents')).body;
  const changes = [
    ['POST', '/v1/agents', agent],
    ['PATCH', path, { name: 'Stolen' }],
    ['DELETE', path, undefined],
    ['POST', `${path}/stop`, {}],
    ['POST', `${path}/links`, {}],
    ['PATCH', '/v1/account', { record_llm_calls: true }],
  ] as const;
  for (const [method, url, body] of changes) {
    for (const headers of foreign) {
      assert.deepEqual(outcome(await me.call(method, url, body, headers)), [403, 'csrf_refused'], url);
    }
    const withoutToken = await me.call(method, url, body, { 'x-csrf-token': undefined });
    assert.deepEqual(outcome(withoutToken), [403, 'csrf_refused'], url);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-csrf-token': undefined };
  assert.deepEqual(outcome(await me.call('POST', '/v1/agents', 'name=x', form)), [403, 'csrf_refused']);
  assert.deepEqual((await me.call('GET', '/v1/agents')).body, before);
  assert.equal((await me.call('GET', '/v1/account')).body.record_llm_calls, false);
});

test('a name that leads here is not ours by that: a page of it is foreign where it asks under our name', async () => {
  for (const origin of ['http://evil.example', 'null']) {
    for (const method of ['GET', 'POST'] as const) {
      const reply = await owner.call(method, '/v1/agents', method === 'POST' ? agent : undefined, { origin });
      assert.deepEqual(outcome(reply), [403, 'csrf_refused'], `${method} ${origin}`);
    }
  }
});

test('a session is counted by itself, whatever its address; what is refused is counted by address', async () => {
  const me = await world.member();
  const { id } = (await me.call('GET', '/session')).body.session;
  const headers = { cookie: me.cookie!, host: 'localhost:8080' };
  const ask = (more: Record<string, string> = {}) =>
    world.app.inject({ url: '/v1/agents', headers: { ...headers, ...more }, remoteAddress: '10.8.8.8' });
  const counted = async () => {
    const buckets = await world.sql("select subject from rate_buckets where subject in ($1, 'address:10.8.8.8')", [
      `session:${id}:reads`,
    ]);
    return buckets.map(({ subject }) => String(subject)).toSorted();
  };
  assert.equal((await ask()).statusCode, 200);
  assert.deepEqual(await counted(), [`session:${id}:reads`]);
  assert.equal((await ask({ origin: 'null' })).statusCode, 403);
  assert.equal((await ask({ cookie: 'lodge_session=x' })).statusCode, 401);
  assert.deepEqual(await counted(), ['address:10.8.8.8', `session:${id}:reads`]);
});

test("keys are told nothing of a person's e-mail, role and second factor", async () => {
  const reply = await world
    .browser()
    .call('PATCH', '/v1/account', { record_llm_calls: false }, { 'x-api-key': world.firstKey });
  assert.equal(reply.status, 200);
  assert.deepEqual([reply.body.object, 'email' in reply.body, 'role' in reply.body], ['account', false, false]);
});

test('an Idempotency-Key keeps no reply that holds a secret of a session', async () => {
  const me = await world.member();
  const headers = { 'idempotency-key': 'once' };
  const body = { name: 'k', scopes: ['agents:read'] };
  const first = await me.call('POST', '/keys', body, headers);
  const second = await me.call('POST', '/keys', body, headers);
  assert.deepEqual([first.status, ...outcome(second)], [201, 409, 'idempotency_key_reused']);
  const kept = JSON.stringify(await world.sql('select * from idempotency_keys'));
  for (const text of [second.text, kept]) assert.ok(!text.includes(first.body.key));
});
