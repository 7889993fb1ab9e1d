/**
 * `POST /v1/mcp` as HTTP: who gets in, which tools a key's scopes allow, what counts, how a call ends, and the conformance
 * suite of the protocol's authors.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ownerOf } from '../e2e/people.ts';
import type { Person } from '../e2e/people.ts';
import { openKeyProxy } from './mcp/key-proxy.ts';
import { openBridge } from './mcp/stdio-bridge.ts';
import { Keeper, signedIn } from './mcp/sign-in.ts';
import { openStand, program } from './mcp/stand.ts';
import type { McpClient, Stand } from './mcp/stand.ts';

let stand: Stand;
let url: string;
let mcp: McpClient;
let agentId: string;
let owner: Person;

before(async () => {
  stand = await openStand();
  url = `${stand.world.url}/v1/mcp`;
  mcp = await stand.http();
  owner = await ownerOf(stand.world);
  agentId = (await mcp.call('create_agent', { name: 'Standing', size: 'small' })).structured.id;
});
after(async () => {
  await stand?.close();
  assert.deepEqual(stand?.faults, [], 'nothing failed inside');
});

interface Sent {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly signal?: AbortSignal;
}

/** Each request has a connection of its own, which ends with it. */
async function post(message: object | null, { key = stand.world.key, headers, method = 'POST', signal }: Sent = {}) {
  const sending = request(url, {
    method,
    agent: false,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(message && { 'content-type': 'application/json' }),
      ...(key && { 'x-api-key': key }),
      ...headers,
    },
    ...(signal && { signal }),
  });
  sending.end(message && JSON.stringify({ jsonrpc: '2.0', ...message }));
  const [reply] = (await once(sending, 'response')) as [IncomingMessage];
  return new Response(Readable.toWeb(reply), {
    status: reply.statusCode!,
    headers: reply.headers as Record<string, string>,
  });
}
const codeOf = async (reply: Response): Promise<string | undefined> =>
  ((await reply.json()) as { error?: { code?: string } }).error?.code;
const list = { id: 1, method: 'tools/list' };
const wait = (id = 1) => ({
  id,
  method: 'tools/call',
  params: { name: 'ask_agent', arguments: { agent_id: agentId, message: 'Wait' } },
});

test('only a key gets in, by POST', async () => {
  const none = await post(list, { key: null });
  assert.deepEqual([none.status, await codeOf(none)], [401, 'missing_api_key']);
  assert.match(none.headers.get('www-authenticate')!, /^Bearer/);
  const person = await post(list, { key: null, headers: owner.headers });
  assert.deepEqual([person.status, await codeOf(person)], [401, 'missing_api_key'], 'a session is no key');
  for (const method of ['GET', 'DELETE']) {
    const reply = await post(null, { method });
    assert.deepEqual(
      [reply.status, reply.headers.get('allow'), await codeOf(reply)],
      [405, 'POST, OPTIONS', 'method_not_allowed'],
    );
  }
});

test('pages of unknown origins are refused, by whatever name they come', async () => {
  const { host } = new URL(url);
  const status = async (headers: Record<string, string>) => (await post(list, { headers })).status;
  assert.equal(await status({ origin: 'https://evil.example' }), 403);
  assert.equal(await status({ origin: 'null' }), 403);
  assert.equal(await status({ origin: 'http://localhost:1' }), 403);
  assert.equal(await status({ origin: `http://${host}` }), 200);
  assert.equal(await status({ origin: stand.world.origin }), 200);
});

test('a message that is none is refused with the field', async () => {
  const refused = async (message: object, headers?: Record<string, string>): Promise<string> => {
    const reply = await post(message, headers ? { headers } : {});
    assert.equal(reply.status, 400);
    return ((await reply.json()) as { error: { message: string } }).error.message;
  };
  assert.match(await refused({ id: 1 }), /needs exactly one of method, result and error/);
  assert.match(await refused({ ...list, id: {} }), /^id /);
  assert.match(await refused({ ...list, more: 1 }), /^more /);
  assert.match(await refused(list, { 'mcp-protocol-version': '1999-01-01' }), /mcp-protocol-version/);
  const batch = await fetch(url, {
    method: 'POST',
    headers: { 'x-api-key': stand.world.key, 'content-type': 'application/json' },
    body: '[]',
  });
  assert.equal(batch.status, 400);
  const unknown = await post({ id: 'a', method: 'no/such' });
  assert.deepEqual(await unknown.json(), {
    jsonrpc: '2.0',
    id: 'a',
    error: { code: -32601, message: 'Method not found' },
  });
  assert.equal((await post({ method: 'notifications/initialized' })).status, 202);
});

test("a key's scopes say which tools there are, and the API decides again", async () => {
  const { world } = stand;
  const toolsOf = async (key: string): Promise<string[]> =>
    (await (await stand.http(key)).client.listTools()).tools.map(({ name }) => name);
  const chat = await world.keyOf(world.accountId, ['agents:chat']);
  assert.deepEqual(await toolsOf(chat), ['list_agents', 'ask_agent']);
  const reader = await toolsOf(await world.keyOf(world.accountId, ['agents:read']));
  assert.deepEqual(reader, [
    'list_agents',
    'get_agent',
    'list_files',
    'read_file',
    'read_logs',
    'list_schedules',
    'list_schedule_runs',
  ]);
  assert.deepEqual(await toolsOf(await world.keyOf(world.accountId, ['usage:read'])), ['get_usage']);

  const talker = await stand.http(chat);
  const listed = await talker.call('list_agents');
  assert.deepEqual(listed.structured.agents, [{ id: agentId, name: 'Standing' }]);
  assert.equal((await talker.call('ask_agent', { agent_id: agentId, message: 'Hi' })).structured.answer, 'plum');
  const refused = await talker.call('delete_agent', { agent_id: agentId });
  assert.deepEqual([refused.isError, refused.texts], [true, ['This API key lacks the scope agents:delete.']]);
  const overStdio = await stand.stdio(chat);
  assert.match(
    (await overStdio.call('delete_agent', { agent_id: agentId })).texts[0]!,
    /code insufficient_scope, request req_/,
  );

  const stranger = await stand.http(await world.keyOf(await world.newAccount()));
  assert.match((await stranger.call('get_agent', { agent_id: agentId })).texts[0]!, /code agent_not_found/);
  assert.deepEqual((await stranger.call('list_agents')).structured.agents, []);
});

test('a change by a tool counts once, and is recorded as by its key, from the address and with the id of the request', async () => {
  const change = (name: string) => ({
    id: 1,
    method: 'tools/call',
    params: { name: 'update_agent', arguments: { agent_id: agentId, name } },
  });
  const key = await stand.world.keyOf(stand.world.accountId, ['agents:write']);
  const direct = async () => {
    const reply = await fetch(`${stand.world.url}/v1/agents/${agentId}`, {
      method: 'PATCH',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: '{"description":"x"}',
    });
    return Number(reply.headers.get('x-ratelimit-remaining'));
  };
  const from = performance.now();
  const first = await direct();
  for (let i = 0; i < 10; i += 1) await (await post(change(`N${i}`), { key })).text();
  const spent = first - (await direct());
  // 120 a minute come back at two a second.
  const back = Math.ceil((performance.now() - from) / 500);
  assert.ok(spent <= 11 && spent >= 11 - back, `${spent} writes were counted for 11, ${back} of which may be back`);

  const reply = await post(change('Recorded'), { key });
  await reply.text();
  const { rows } = await stand.world.sql.query<{ actor_kind: string; request_id: string; address: string }>(
    `select * from events where request_id = $1`,
    [reply.headers.get('x-request-id')],
  );
  assert.equal(rows.length, 1);
  assert.deepEqual(
    JSON.stringify(rows[0])
      .match(/127\.0\.0\.1|api_key/g)
      ?.toSorted(),
    ['127.0.0.1', 'api_key'],
  );
});

test('the official client signs in by OAuth, with the scopes that a person gives, and renews its access', async () => {
  const keeper = new Keeper();
  const signed = await signedIn(new URL(`${stand.world.origin}/v1/mcp`), owner, ['agents:chat'], keeper);
  try {
    const { tools } = await signed.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['list_agents', 'ask_agent'],
    );
    assert.equal((await signed.call('list_agents')).structured.agents[0].id, agentId);
    const { refresh_token } = keeper.tokens()!;
    keeper.expire();
    assert.equal((await signed.call('list_agents')).isError, false);
    assert.notEqual(keeper.tokens()!.refresh_token, refresh_token);
  } finally {
    await signed.client.close();
  }
});

test('a client that goes away ends its call', async () => {
  const leave = new AbortController();
  const reply = await post(wait(), { signal: leave.signal });
  assert.match(reply.headers.get('content-type')!, /^text\/event-stream/);
  await stand.gateway.waiting();
  leave.abort();
  await stand.gateway.ended();
});

test('a cancel ends the call of its own session alone', async () => {
  const headers = { 'mcp-session-id': 'mine' };
  const called = post(wait(7), { headers });
  await stand.gateway.waiting();
  const cancel = (session: string | null, requestId: unknown = 7) =>
    post(
      { method: 'notifications/cancelled', params: { requestId } },
      session ? { headers: { 'mcp-session-id': session } } : {},
    );
  for (const reply of [
    await cancel('another'),
    await cancel(null),
    await cancel('mine', 8),
    await cancel('mine', {}),
  ]) {
    assert.equal(reply.status, 202);
  }
  const other = await stand.world.keyOf(stand.world.accountId);
  await post({ method: 'notifications/cancelled', params: { requestId: 7 } }, { headers, key: other });
  const stillThere = await Promise.race([
    stand.gateway.ended().then(() => false),
    new Promise((r) => setTimeout(r, 150, true)),
  ]);
  assert.equal(stillThere, true);
  await cancel('mine');
  assert.equal(await (await called).text(), ': working\n\n', 'the stream ends without an answer');
});

test('an account has a bound of calls at once, and clients that do not read hold no place', async () => {
  const leave = new AbortController();
  const waits = Array.from({ length: 32 }, (_, i) => post(wait(i), { signal: leave.signal }));
  await Promise.all(waits);
  const beyond = await post(list);
  assert.deepEqual(
    [beyond.status, await codeOf(beyond), beyond.headers.get('retry-after')],
    [429, 'rate_limit_exceeded', '2'],
  );
  const other = await stand.world.keyOf(await stand.world.newAccount());
  assert.equal((await post(list, { key: other })).status, 200, 'another account has places');
  leave.abort();
  await assert.rejects(Promise.all(waits.map(async (reply) => (await reply).text())));
  const say = {
    id: 1,
    method: 'tools/call',
    params: { name: 'ask_agent', arguments: { agent_id: agentId, message: 'Say 60000' } },
  };
  const unread: Response[] = [];
  while (unread.length < 40) {
    const reply = await post(say);
    // The places of those that were cut are given back as their turns end.
    if (reply.status === 200) unread.push(reply);
    else assert.equal(reply.status, 429, await reply.text());
  }
  assert.equal((await post(list)).status, 200);
  await Promise.all(unread.map((reply) => reply.body!.cancel()));
});

const suite = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
/** Scenarios that need nothing of the suite's own example server. */
const scenarios = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'resources-list',
];

async function summaryOf(url: string, ...more: readonly string[]): Promise<string> {
  const args = [suite, 'server', '--url', url, ...more];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  return stdout.slice(stdout.indexOf('=== SUMMARY'));
}

test('the conformance suite of the protocol passes, but for what its own example server has', async () => {
  const expected = fileURLToPath(new URL('mcp/expected-failures.yaml', import.meta.url));
  const proxy = await openKeyProxy(stand.world.url, stand.world.key);
  try {
    const summary = await summaryOf(`${proxy.url}/v1/mcp`, '--expected-failures', expected);
    for (const passed of [...scenarios, 'server-sse-multiple-streams', 'dns-rebinding-protection']) {
      assert.ok(summary.includes(`✓ ${passed}: `), summary);
    }
  } finally {
    await proxy.close();
  }
});

test('the same suite passes over stdio, as far as it is not about HTTP', async () => {
  const { url: LODGE_URL, key } = stand.world;
  const bridge = await openBridge([program, 'mcp'], { LODGE_URL, LODGE_API_KEY: key, LODGE_KEYRING: 'off' });
  try {
    const summary = await summaryOf(bridge.url).catch((error: { readonly stdout: string }) => error.stdout);
    for (const passed of scenarios) assert.ok(summary.includes(`✓ ${passed}: `), summary);
  } finally {
    await bridge.close();
  }
});
