/** The service's specification, section by section. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { openWorld, send } from '../api/world.ts';
import type { World } from '../api/world.ts';
import { printCounts, row } from './rows.ts';
import { Client } from './states.ts';

let world: World;
let client: Client;
before(async () => {
  world = await openWorld();
  client = new Client(world);
});
after(() => world?.close());
printCounts('specification');

/** One create, and what is wrong with it; the record else. */
const creates: readonly [section: string, title: string, fields: object, error?: RegExp][] = [
  ['2.1 name', 'only a name', {}],
  ['2.1 name', 'missing', { name: undefined }, /name is required/],
  ['2.1 name', 'blank', { name: '  ' }, /name is required/],
  ['2.1 name', 'no string', { name: 7 }, /name is required/],
  ['2.1 model', 'provider-prefixed', { model: 'openai/gpt-5' }],
  ['2.1 model', 'of a provider nobody knows', { model: 'nobody/x' }, /model/],
  ['2.1 description', 'free text', { description: 'Answers in #help' }],
  ['2.1 description', 'too long', { description: 'x'.repeat(2001) }, /description/],
  ['2.1 llm_keys', 'one', { llm_keys: [{ provider: 'anthropic', api_key: 'sk-ant-test-0001-h3Qw' }] }],
  ['2.1 llm_keys', 'without a provider', { llm_keys: [{ api_key: 'x' }] }, /llm_keys\[0\]\.provider/],
  ['2.1 llm_keys', 'of nobody', { llm_keys: [{ provider: 'nobody', api_key: 'x' }] }, /llm_keys\[0\]\.provider/],
  ['2.1 runtime_kind', 'runtime_a', { runtime_kind: 'runtime_a' }],
  ['2.1 runtime_kind', 'anything else', { runtime_kind: 'runtime_c' }, /runtime_kind/],
  ['2.2 model shape', 'bare with runtime_a', { model: 'gpt-5' }, /model/],
  ['2.2 runtime_b', 'is not offered by this deployment', { runtime_kind: 'runtime_b', model: 'x' }, /runtime_kind/],
  ['2.2 dashboard', 'of runtime_a', { dashboard: true }, /dashboard/],
  ['2.3 sizes', 'a size nobody knows', { size: 'huge' }, /size/],
];
for (const [section, title, fields, error] of creates) {
  row(section, title, async () => {
    const { status, body, text } = await client.call('POST', '/agents', { name: 'Support bot', ...fields });
    if (error) {
      assert.equal(status, 400, text);
      assert.deepEqual([body.error.type, body.error.code], ['invalid_request_error', 'invalid_request']);
      assert.match(body.error.message, error);
      return;
    }
    assert.equal(status, 201, text);
    for (const [name, value] of Object.entries(fields)) {
      if (name !== 'llm_keys') assert.deepEqual(body[name], value, name);
      else assert.deepEqual([body.llm_keys[0].provider, body.llm_keys[0].last4], ['anthropic', 'h3Qw']);
    }
    assert.equal(text.includes('sk-ant-test'), false, 'a secret is never given back');
    await client.call('DELETE', `/agents/${body.id}`);
  });
}

row('2.1 record', 'has exactly the fields of the contract, after create and read alike', async () => {
  const created = await client.call('POST', '/agents', { name: 'Support bot' });
  assert.equal(created.headers.get('location'), `/v1/agents/${created.body.id}`);
  const fields =
    'object id name description status status_reason runtime_kind runtime model size machine url dashboard_url browser llm_keys channels lifecycle spend_limit labels metadata created_at updated_at started_at paused_at stopped_at last_active_at transition upgrade_available instructions settings_pending egress packages packages_error env confirmations models peers snapshots forked_from disk';
  assert.deepEqual(Object.keys(created.body).toSorted(), fields.split(' ').toSorted());
  assert.match(created.body.id, /^[a-z][a-z0-9]{11}$/);
  assert.deepEqual((await client.call('GET', `/agents/${created.body.id}`)).body, created.body);
  for (const name of ['created_at', 'updated_at', 'started_at']) {
    assert.match(created.body[name], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  await client.call('DELETE', `/agents/${created.body.id}`);
});

row('2.2 default', 'no runtime_kind is runtime_a, with its URL prefix', async () => {
  const { body } = await client.call('POST', '/agents', { name: 'x' });
  assert.equal(body.runtime_kind, 'runtime_a');
  assert.equal(body.url, `http://openclaw-${body.id}.agents.localhost:${new URL(world.url).port}`);
  await client.call('DELETE', `/agents/${body.id}`);
});

const sizes = { small: [1, 2048], medium: [2, 4096], large: [2, 8192], xlarge: [4, 16_384] } as const;
for (const [size, [vcpus, memory]] of Object.entries(sizes)) {
  row('2.3 sizes', `${size} is ${vcpus} vCPUs and ${memory} MB`, async () => {
    const { body } = await client.call('POST', '/agents', { name: 'x', size });
    assert.deepEqual([body.size, body.machine.vcpus, body.machine.memory_mb], [size, vcpus, memory]);
    const listed = (await client.call('GET', '/sizes')).body.data.find(({ id }: { id: string }) => id === size);
    assert.deepEqual([listed.vcpus, listed.memory_mb, listed.default], [vcpus, memory, size === 'medium']);
    await client.call('DELETE', `/agents/${body.id}`);
  });
}
row('2.3 sizes', 'medium is the default', async () => {
  const { body } = await client.call('POST', '/agents', { name: 'x' });
  assert.equal(body.size, 'medium');
  await client.call('DELETE', `/agents/${body.id}`);
});

row('3 moves', 'provisioning, running, paused, running, stopped, running', async () => {
  const id = await client.agent('provisioning');
  await client.call('DELETE', `/agents/${id}`);
  const other = await client.agent('running');
  for (const [verb, status] of [
    ['pause', 'paused'],
    ['resume', 'running'],
    ['stop', 'stopped'],
    ['resume', 'running'],
  ] as const) {
    assert.equal((await client.call('POST', `/agents/${other}/${verb}`)).body.status, status);
  }
  await client.call('DELETE', `/agents/${other}`);
});
row('3 live', 'what needs a live agent is a 409 without one', async () => {
  const id = await client.agent('stopped');
  const body = { messages: [{ role: 'user', content: 'x' }] };
  const answer = await client.call('POST', `/agents/${id}/chat/completions`, body);
  assert.deepEqual([answer.status, answer.body.error.type], [409, 'invalid_request_error']);
  await client.call('DELETE', `/agents/${id}`);
});

row('4 polling', 'a client polls GET /agents/:id until it runs', async () => {
  const { body, status } = await client.call('POST', '/agents?wait=false', { name: 'x' });
  assert.deepEqual([status, body.status], [202, 'provisioning']);
  const polled = await client.call('GET', `/agents/${body.id}?wait_for=running&timeout=20`);
  assert.equal(polled.body.status, 'running');
  await client.call('DELETE', `/agents/${body.id}`);
});

row('5.1 header', 'X-API-Key', async () => assert.equal((await client.call('GET', '/agents')).status, 200));
row('5.2 header', 'Authorization: Bearer', async () => {
  const headers = { authorization: `Bearer ${world.key}` };
  assert.equal((await send(world.url, 'GET', '/v1/agents', { headers })).status, 200);
});
row('5.2 header', 'of both, X-API-Key wins', async () => {
  const headers = { authorization: `Bearer ${world.key}`, 'x-api-key': 'wrong' };
  assert.equal((await send(world.url, 'GET', '/v1/agents', { headers })).status, 401);
});
row('5.3 prefix', 'live keys begin with it', async () => assert.match(world.key, /^lodge_live_[0-9A-Za-z]{43}$/));
row('5.5 key', 'missing: 401 authentication_error', async () => {
  const { status, body, headers } = await send(world.url, 'GET', '/v1/agents', {});
  assert.deepEqual([status, body.error.type, body.error.code], [401, 'authentication_error', 'missing_api_key']);
  assert.equal(headers.get('www-authenticate'), 'Bearer');
});
row('5.5 key', 'invalid: 401 authentication_error', async () => {
  const { status, body } = await send(world.url, 'GET', '/v1/agents', { key: 'lodge_live_no' });
  assert.deepEqual([status, body.error.code], [401, 'invalid_api_key']);
});

const scopeTable = {
  'agents:read': ['GET', ''],
  'agents:write': ['PATCH', ''],
  'agents:delete': ['DELETE', ''],
} as const;
for (const [scope, [method, path]] of Object.entries(scopeTable)) {
  row('5.6 scopes', `${scope} grants ${method}, and nothing else does`, async () => {
    const id = await client.agent('running');
    for (const held of ['agents:read', 'agents:write', 'agents:delete', 'usage:read', 'agents:chat'] as const) {
      if (held === scope) continue;
      const key = await world.keyOf(world.accountId, [held]);
      const body = method === 'PATCH' ? { description: 'x' } : undefined;
      const { status, body: reply } = await new Client(world, key).call(method, `/agents/${id}${path}`, body);
      assert.deepEqual([status, reply.error.type], [403, 'authorization_error'], held);
      assert.ok(reply.error.message.includes(scope));
    }
    const holder = new Client(world, await world.keyOf(world.accountId, [scope as 'agents:read']));
    const body = method === 'PATCH' ? { description: 'x' } : undefined;
    assert.equal((await holder.call(method, `/agents/${id}${path}`, body)).status, 200);
    await client.call('DELETE', `/agents/${id}`);
  });
}

row('7 errors', 'the body is exactly error.{type,code,message}', async () => {
  const { body } = await client.call('GET', '/agents/aaaaaaaaaaaa');
  assert.deepEqual(Object.keys(body), ['error']);
  assert.deepEqual(Object.keys(body.error).toSorted(), ['code', 'message', 'type']);
});
row('9 versioning', 'the version is in the path', async () => {
  assert.equal((await send(world.url, 'GET', '/agents', { key: world.key })).status, 404);
});
