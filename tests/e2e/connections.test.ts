/** Connections over HTTP, on a real database: what owners put and read, and that no credential comes out anywhere. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

const token = 'very-secret-token-1234';
const logged: string[] = [];
let world: World;
let client: Client;
let agentId: string;

before(async () => {
  world = await openWorld({ onError: (fields, message) => void logged.push(JSON.stringify([fields, message])) });
  client = new Client(world);
});
after(() => world?.close());
beforeEach(async () => {
  agentId = await client.agent('running');
});

const base = {
  kind: 'http',
  url: 'https://api.example.com/v1/',
  headers: { Authorization: `Bearer ${token}` },
  allow: [{ methods: ['GET'], paths: ['/notes/*', '/me'] }],
};
const put = (name: string, body: object, id = agentId) => client.call('PUT', `/agents/${id}/connections/${name}`, body);
const get = (path = '', id = agentId) => client.call('GET', `/agents/${id}/connections${path}`);
const codeOf = ({ status, body }: { readonly status: number; readonly body: any }) => [status, body.error?.code];

test('200: what was put is read, its headers by their last four characters alone', async () => {
  const answer = await put('notes', base);
  assert.equal(answer.status, 200, answer.text);
  const { created_at: _created, updated_at: _updated, headers, ...record } = answer.body;
  assert.deepEqual(record, {
    object: 'connection',
    agent_id: agentId,
    name: 'notes',
    kind: 'http',
    url: 'https://api.example.com/v1',
    hosts: [],
    secrets: {},
    allow: base.allow,
    tools: null,
    auth: null,
    oauth: null,
    enabled: true,
    status_reason: null,
    guest_path: '/connections/notes',
  });
  assert.deepEqual([headers.Authorization.set, headers.Authorization.last4], [true, '1234']);
  assert.deepEqual((await get('/notes')).body, answer.body);
  assert.deepEqual((await get()).body.data, [answer.body]);
});

test('200: headers that are left out stay; with another URL they are asked for again', async () => {
  await put('notes', base);
  const { headers: _headers, ...without } = base;
  const kept = await put('notes', { ...without, enabled: false });
  assert.deepEqual([kept.body.enabled, kept.body.headers.Authorization?.last4], [false, '1234']);
  const elsewhere = await put('notes', { ...without, url: 'https://evil.example.com/v1' });
  assert.deepEqual(codeOf(elsewhere), [400, 'invalid_request']);
  assert.match(elsewhere.body.error.message, /^headers /);
  assert.equal((await get('/notes')).body.url, 'https://api.example.com/v1');
  assert.deepEqual((await put('notes', { ...base, url: 'https://b.example.com', headers: {} })).body.headers, {});
});

test('200: an MCP server, and tools of it', async () => {
  const { body } = await put('github', { kind: 'mcp', url: 'https://mcp.example.com/mcp', tools: ['search'] });
  assert.deepEqual([body.kind, body.tools, body.allow, body.guest_path], ['mcp', ['search'], [], null]);
});

test('200: one that is removed is gone', async () => {
  await put('notes', base);
  const path = `/agents/${agentId}/connections/notes`;
  assert.deepEqual((await client.call('DELETE', path)).body, {
    object: 'connection.deleted',
    name: 'notes',
    deleted: true,
  });
  for (const method of ['GET', 'DELETE']) {
    assert.deepEqual(codeOf(await client.call(method, path)), [404, 'connection_not_found']);
  }
});

describe('400: the field is named, and nothing is changed', () => {
  const allow = (given: unknown) => ({ ...base, allow: given });
  const auth = (given: object) => ({
    ...base,
    headers: {},
    auth: {
      kind: 'oauth',
      client_id: 'a',
      authorization_url: 'https://as.example.com/authorize',
      token_url: 'https://as.example.com/token',
      ...given,
    },
  });
  const rows: readonly (readonly [string, string, object, RegExp])[] = [
    ['no kind', 'notes', { url: base.url }, /^kind/],
    ['an unknown kind', 'notes', { ...base, kind: 'ftp' }, /^kind/],
    ['no url', 'notes', { kind: 'http', allow: base.allow }, /^url/],
    ['plain HTTP', 'notes', { ...base, url: 'http://api.example.com' }, /^url .*https/],
    ['a user in the url', 'notes', { ...base, url: 'https://u:p@api.example.com' }, /^url/],
    ['a query in the url', 'notes', { ...base, url: 'https://api.example.com/?key=1' }, /^url/],
    ['dots in the url', 'notes', { ...base, url: 'https://api.example.com/a/../b' }, /^url/],
    ['another scheme', 'notes', { ...base, url: 'file:///etc/passwd' }, /^url/],
    ['no allow', 'notes', { kind: 'http', url: base.url }, /^allow/],
    ['an empty allow', 'notes', allow([]), /^allow/],
    ['an unknown method', 'notes', allow([{ methods: ['TRACE'], paths: ['/a'] }]), /^allow\[0\]\.methods\[0\]/],
    ['no methods', 'notes', allow([{ methods: [], paths: ['/a'] }]), /^allow\[0\]\.methods/],
    ['no paths', 'notes', allow([{ methods: ['GET'] }]), /^allow\[0\]\.paths/],
    ['dots in a path', 'notes', allow([{ methods: ['GET'], paths: ['/a', '/a/../b'] }]), /^allow\[0\]\.paths\[1\]/],
    ['a star within', 'notes', allow([{ methods: ['GET'], paths: ['/a*'] }]), /^allow\[0\]\.paths\[0\]/],
    ['tools of a service', 'notes', { ...base, tools: ['a'] }, /^tools/],
    ['allow of a server of tools', 'notes', { ...base, kind: 'mcp' }, /^allow/],
    ['a header with a space', 'notes', { ...base, headers: { 'X Y': 'a' } }, /^headers/],
    ['a header with a line break', 'notes', { ...base, headers: { 'X-A': 'a\r\nHost: b' } }, /^headers/],
    ['the host', 'notes', { ...base, headers: { Host: 'evil.example.com' } }, /^headers\.Host/],
    ['a length', 'notes', { ...base, headers: { 'Content-Length': '1' } }, /^headers\.Content-Length/],
    ['a header twice', 'notes', { ...base, headers: { 'X-A': 'a', 'x-a': 'b' } }, /^headers\.x-a/],
    [
      'values that are too long',
      'notes',
      { ...base, headers: { A: 'x'.repeat(4_000), B: 'x'.repeat(97) } },
      /^headers/,
    ],
    [
      'too many headers',
      'notes',
      { ...base, headers: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`H${n}`, 'x'])) },
      /^headers/,
    ],
    ['a name in capitals', 'Notes', base, /^name/],
    ['a name with an underscore', 'a_b', base, /^name/],
    ['an unknown field', 'notes', { ...base, token }, /^token/],
    ['OAuth of a service without a client', 'notes', auth({ client_id: null }), /^auth\.client_id/],
    ['OAuth without a page', 'notes', auth({ authorization_url: undefined }), /^auth\.authorization_url/],
    ['OAuth without a token endpoint', 'notes', auth({ token_url: undefined }), /^auth\.token_url/],
    ['a token endpoint without TLS', 'notes', auth({ token_url: 'http://as.example.com' }), /^auth\.token_url .*https/],
    ['a user in an endpoint', 'notes', auth({ token_url: 'https://u:p@as.example.com' }), /^auth\.token_url/],
    ['another scheme of a page', 'notes', auth({ authorization_url: 'javascript:x' }), /^auth\.authorization_url/],
    ['a state in a page', 'notes', auth({ authorization_url: 'https://as.example.com?state=a' }), /^auth\.authori/],
    ['an unknown way of a client', 'notes', auth({ client_auth: 'none' }), /^auth\.client_auth/],
    ['a secret with a line break', 'notes', auth({ client_secret: 'a\nb' }), /^auth\.client_secret/],
    ['OAuth beside its header', 'notes', { ...auth({}), headers: base.headers }, /^auth and a header/],
    ['a word as enabled', 'notes', { ...base, enabled: 'yes' }, /^enabled/],
  ];
  for (const [title, name, body, message] of rows) {
    test(title, async () => {
      const answer = await put(name, body);
      assert.deepEqual(codeOf(answer), [400, 'invalid_request'], answer.text);
      assert.match(answer.body.error.message, message);
      assert.deepEqual((await get()).body.data, []);
    });
  }
});

test("404: another account's agent, whatever is asked", async () => {
  await put('notes', base);
  const stranger = new Client(world, await world.keyOf(await world.newAccount()));
  for (const [method, path, body] of [
    ['GET', ''],
    ['GET', '/notes'],
    ['PUT', '/notes', base],
    ['DELETE', '/notes'],
  ] as const) {
    const answer = await stranger.call(method, `/agents/${agentId}/connections${path}`, body);
    assert.deepEqual(codeOf(answer), [404, 'agent_not_found'], method);
  }
  assert.equal((await get()).body.data.length, 1);
});

test('403: a key that may only read', async () => {
  const reader = new Client(world, await world.keyOf(world.accountId, ['agents:read']));
  assert.equal((await reader.call('GET', `/agents/${agentId}/connections`)).status, 200);
  const answer = await reader.call('PUT', `/agents/${agentId}/connections/notes`, base);
  assert.deepEqual(codeOf(answer), [403, 'insufficient_scope'], answer.text);
});

test('429: an agent has 32 and no more', async () => {
  for (let n = 0; n < 32; n += 1) assert.equal((await put(`c${n}`, base)).status, 200);
  assert.equal((await put('one-more', base)).body.error.code, 'quota_exceeded');
  assert.equal((await put('c0', base)).status, 200);
});

test('no credential is in an event, a log, the audit log or the database in the clear', async () => {
  await put('notes', base);
  const shown = [await client.call('GET', '/audit-events?limit=100'), await client.call('GET', '/events?limit=100')];
  const { rows } = await world.sql.query('select * from connections');
  const headers = await world.sql.query('select * from connection_headers');
  const events = await world.sql.query(`select * from events where type like 'connection.%'`);
  assert.ok(headers.rows.length > 0 && events.rows.length > 0);
  const text = JSON.stringify([shown, rows, headers.rows, events.rows, logged]);
  assert.doesNotMatch(text, /very-secret-token/);
});
