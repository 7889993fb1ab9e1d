/**
 * Agents' own addresses, over the whole API on a real database: who passes and who does not, what passes and how, links for
 * browsers, published ports. Machines are fake; the web server in them is real.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, test } from 'node:test';
import { hostOf, openAddresses } from './agent-addresses.ts';
import { Client } from './contract/states.ts';
import { gatewayToken } from './guest-web.ts';

const { guest, world, visitor, owner, stranger, agentId, link, visit, close } = await openAddresses();
after(close);
const ownHost = (): string => hostOf(agentId);

test('with a key the gateway answers, opened by the host: no key, token or name of ours gets in', async () => {
  const answer = await visitor.ask(ownHost(), '/a/b?c=%2F', {
    method: 'PATCH',
    body: 'plum',
    headers: {
      authorization: 'Bearer something-else',
      cookie:
        'lodge_session=s; own=1; of_gateway=forged; __Host-lodge_session=s; lodge_visit=v; __Host-lodge_visit=v; b=2',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'gopher',
      'x-real-ip': '203.0.113.9',
      forwarded: 'for=203.0.113.9',
      connection: 'close, x-hop, content-length',
      'x-hop': '1',
      te: 'trailers',
      'x-passed': ['1', '2'],
    },
  });
  assert.equal(answer.status, 200, answer.text);
  const { method, url, headers, bytes } = answer.json;
  assert.deepEqual([method, url, bytes], ['PATCH', '/a/b?c=%2F', 4]);
  assert.equal(headers.authorization, `Bearer ${gatewayToken}`);
  assert.equal(headers.cookie, 'own=1; b=2; of_host=1; of_gateway=2');
  assert.equal(headers.host, `${ownHost()}:${visitor.port}`);
  assert.deepEqual(
    [headers['x-forwarded-for'], headers['x-forwarded-proto'], headers['x-forwarded-host']],
    ['127.0.0.1', 'http', `${ownHost()}:${visitor.port}`],
  );
  for (const name of ['x-api-key', 'forwarded', 'x-real-ip', 'x-hop', 'te'])
    assert.equal(headers[name], undefined, name);
  assert.equal(headers['x-passed'], '1, 2');
  assert.equal(answer.headers['x-of-guest'], 'yes');
  const bearer = await visitor.ask(ownHost().toUpperCase(), '/', {
    key: null,
    headers: { authorization: `Bearer ${world.key}` },
  });
  assert.equal(bearer.status, 200);
  assert.ok(!JSON.stringify(bearer.json).includes(world.key));
});

test('what the guest sets reaches its own host alone', async () => {
  const { headers } = await visitor.ask(ownHost(), '/cookies');
  assert.deepEqual(headers['set-cookie'], ['own=1; Path=/; HttpOnly', 'other=2; SameSite=Lax']);
  assert.deepEqual([headers['clear-site-data'], headers['alt-svc']], [undefined, undefined]);
});

test('without a right nobody passes, and an unknown agent looks like one of another account', async () => {
  const unknown = hostOf('aaaaaaaaaaaa');
  for (const host of [ownHost(), unknown]) {
    assert.deepEqual(await visitor.refused(host, { key: null }), [401, 'missing_api_key']);
    assert.deepEqual(await visitor.refused(host, { key: 'lodge_live_x' }), [401, 'invalid_api_key']);
    assert.deepEqual(await visitor.refused(host, { key: stranger.key }), [404, 'agent_not_found']);
  }
  const poor = await world.keyOf(world.accountId, ['agents:read', 'agents:chat']);
  assert.deepEqual(await visitor.refused(ownHost(), { key: poor }), [403, 'insufficient_scope']);
  for (const host of [hostOf(agentId, 'hermes'), `x.${ownHost()}`, 'agents.localhost', 'x.agents.localhost']) {
    assert.deepEqual(await visitor.refused(host), [404, 'agent_not_found'], host);
  }
  const before = guest.seen.length;
  const {
    status,
    headers,
    text: body,
  } = await visitor.ask(ownHost(), '/', { key: null, headers: { accept: 'text/html' } });
  assert.deepEqual([status, headers['content-type']], [401, 'text/html; charset=utf-8']);
  assert.match(String(headers['content-security-policy']), /default-src 'self'.*frame-ancestors 'none'/);
  assert.match(body, /^<!doctype html>.*&lt;id&gt;/, 'nothing in it is markup but ours');
  assert.equal(guest.seen.length, before, 'the guest was not asked');
});

test("nothing of the API answers at an agent's address, and no agent at the API's", async () => {
  for (const path of ['/v1/agents', '/v1/health', '/account', '/v1/account/session', '/docs', '/v1/openapi.json']) {
    const { status, json } = await visitor.ask(ownHost(), path);
    assert.deepEqual([status, json.url], [200, path], 'the guest says what is there');
    assert.equal((await visitor.ask(ownHost(), path, { key: null })).status, 401);
  }
  const target = `http://${ownHost()}/`;
  const [to, key] = ['HTTP/1.1\r\nConnection: close\r\n', `X-API-Key: ${world.key}\r\n`];
  const before = guest.seen.length;
  const confused = [
    `GET ${target} ${to}${key}Host: 127.0.0.1\r\n\r\n`,
    `GET http://127.0.0.1/v1/agents ${to}${key}Host: ${ownHost()}\r\n\r\n`,
    `GET ${target} ${to}${key}Host: ${ownHost()}\r\n\r\n`,
    `GET /v1/agents ${to}${key}Host: ${ownHost()}\r\nHost: 127.0.0.1\r\n\r\n`,
    `OPTIONS * ${to}${key}Host: ${ownHost()}\r\n\r\n`,
  ];
  for (const message of confused) assert.match(await visitor.raw(message), /^HTTP\/1\.1 4\d\d /, message);
  assert.match(
    await visitor.raw(`GET /v1/agents ${to}${key}Host: 127.0.0.1\r\nHost: ${ownHost()}\r\n\r\n`),
    /^HTTP\/1\.1 [24]/,
  );
  assert.match(await visitor.raw(`TRACE / ${to}${key}Host: ${ownHost()}\r\n\r\n`), /^HTTP\/1\.1 405 /);
  assert.equal(guest.seen.length, before, 'no guest was asked');
});

test('streams pass as they come, both ways, and end with either side', async () => {
  const { reply, request } = await visitor.open(ownHost(), '/events');
  assert.equal(String((await once(reply, 'data'))[0]), 'data: first\n\n');
  const seen = guest.last;
  request.destroy();
  await once(seen.socket, 'close');

  const broken = await visitor.open(ownHost(), '/broken');
  await assert.rejects(text(broken.reply), /aborted/);
  for (const path of ['/many-headers', '/switched']) {
    const { status, json } = await visitor.ask(ownHost(), path);
    assert.deepEqual([status, json.error.code], [503, 'agent_unavailable'], path);
  }
});

test('a body of 64 MiB arrives whole, with a length or without; the slower side sets the pace', async () => {
  const body = Buffer.alloc(64 * 1024 * 1024, 'plum');
  const sha256 = createHash('sha256').update(body).digest('hex');
  for (const headers of [{ 'content-length': body.length }, { 'transfer-encoding': 'chunked' }]) {
    const { json } = await visitor.ask(ownHost(), '/upload', { method: 'PUT', body, headers });
    assert.deepEqual([json.bytes, json.sha256], [body.length, sha256]);
  }
  // A body that belongs to no method by custom, and must not become a request of its own.
  const get = await visitor.ask(ownHost(), '/get', {
    method: 'GET',
    body: 'plum',
    headers: { 'transfer-encoding': 'chunked' },
  });
  assert.deepEqual([get.json.method, get.json.bytes], ['GET', 4]);

  const { reply, request } = await visitor.open(ownHost(), '/long');
  reply.pause();
  await sleep(500);
  assert.ok(guest.sent < 32 * 1024 * 1024, `the guest sent ${guest.sent} bytes to somebody who does not read`);
  request.destroy();

  const deaf = visitor.begin(ownHost(), '/deaf', { method: 'POST' });
  deaf.on('error', () => undefined);
  let sent = 0;
  for (const part = Buffer.alloc(1024 * 1024); sent < 64; sent += 1) {
    if (!deaf.write(part) && !(await Promise.race([once(deaf, 'drain'), sleep(500, null, { ref: false })]))) break;
  }
  assert.ok(sent < 32, `${sent} MiB were taken for a guest that does not read`);
  deaf.destroy();

  const early = await visitor.ask(ownHost(), '/early', { method: 'POST', body: 'x', headers: { 'content-length': 1 } });
  assert.deepEqual([early.status, early.text], [413, 'too much']);
});

test('a WebSocket passes with a key, and is refused as any request is', async () => {
  const socket = visitor.socketTo(ownHost(), { 'x-api-key': world.key });
  await once(socket, 'open');
  const sent = Buffer.alloc(1024 * 1024, 'plum');
  socket.send(sent);
  const [echoed] = (await once(socket, 'message')) as [Buffer];
  assert.ok(echoed.equals(sent));
  assert.equal(guest.last.headers.authorization, `Bearer ${gatewayToken}`);
  assert.equal(guest.last.headers['x-api-key'], undefined);
  const { rows } = await world.sql.query('select 1 from agent_holds where agent_id = $1', [agentId]);
  assert.equal(rows.length, 1, 'it holds the agent awake');
  socket.close();
  await once(socket, 'close');
  assert.equal(await visitor.handshake(ownHost(), {}), 401);
  assert.equal(await visitor.handshake(ownHost(), { 'x-api-key': stranger.key }), 404);
  assert.equal(await visitor.handshake(ownHost(), { 'x-api-key': world.key }, '/refused'), 418, 'the guest refuses');
});

test('a link opens one page of one agent in one browser, once', async () => {
  const url = await link({ path: '/page?x=1' });
  const { rows } = await world.sql.query('select to_jsonb(v)::text as row from agent_visits v');
  const token = new URL(url).searchParams.get('token')!;
  assert.ok(
    rows.every(({ row }: { row: string }) => !row.includes(token)),
    'no token is in the database',
  );
  for (const headers of [{ 'sec-purpose': 'prefetch' }])
    assert.equal((await visitor.openLink(url, headers)).status, 404);
  const { hostname, pathname, search } = new URL(url);
  assert.equal((await visitor.ask(hostname, pathname + search, { method: 'HEAD', key: null })).status, 405);
  const elsewhere = hostOf(await owner.agent('running'));
  assert.equal((await visitor.ask(elsewhere, pathname + search, { key: null })).status, 404, "another agent's address");

  const opened = await visitor.openLink(url);
  assert.deepEqual([opened.status, opened.headers.location], [303, '/page?x=1']);
  assert.equal(opened.headers['referrer-policy'], 'no-referrer');
  assert.match(
    opened.headers['set-cookie']![0]!,
    /^lodge_visit=[\w-]{43}; Max-Age=28(?:800|7\d\d); Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const again = await visitor.openLink(url, { accept: 'text/html' });
  assert.deepEqual([again.status, again.cookie], [404, undefined]);
  assert.match(again.text, /used before/);

  const { cookie } = opened;
  const page = await visitor.ask(hostname, '/', { key: null, headers: { cookie: `a=1; ${cookie}; b=2` } });
  assert.deepEqual([page.status, page.json.headers.cookie], [200, 'a=1; b=2; of_host=1; of_gateway=2']);
  assert.equal(page.json.headers.authorization, `Bearer ${gatewayToken}`);
  assert.deepEqual(await visitor.refused(elsewhere, { key: null, headers: { cookie } }), [401, 'missing_api_key']);
  const tossed = { cookie: `lodge_visit=${'x'.repeat(43)}; ${cookie}` };
  assert.equal(
    (await visitor.ask(hostname, '/', { key: null, headers: tossed })).status,
    200,
    "another host's cookie beside",
  );
});

test('links are refused that lead elsewhere, to no page of the agent, or to an agent of somebody else', async () => {
  const wrong: [object, string][] = [
    [{ path: '//evil.example.com' }, 'path'],
    [{ path: '/\\evil.example.com' }, 'path'],
    [{ path: 'https://evil.example.com' }, 'path'],
    [{ path: '/a b' }, 'path'],
    [{ path: '/a\r\nSet-Cookie: x=1' }, 'path'],
    [{ page: 'dashboard' }, 'page'],
    [{ page: 'port' }, 'port'],
    [{ port: 3000 }, 'port'],
    [{ expires_in_seconds: 601 }, 'expires_in_seconds'],
    [{ visit_seconds: 10 }, 'visit_seconds'],
  ];
  for (const [body, named] of wrong) {
    const answer = await owner.call('POST', `/agents/${agentId}/links`, body);
    assert.equal(answer.status, 400, answer.text);
    assert.ok(answer.body.error.message.includes(named), answer.text);
  }
  const missing = await owner.call('POST', `/agents/${agentId}/links`, { page: 'port', port: 3000 });
  assert.deepEqual([missing.status, missing.body.error.code], [404, 'port_not_found']);
  const foreign = await stranger.call('POST', `/agents/${agentId}/links`, {});
  assert.deepEqual([foreign.status, foreign.body.error.code], [404, 'agent_not_found']);
  const idempotent = { headers: { 'idempotency-key': 'a-link' } };
  assert.equal((await owner.call('POST', `/agents/${agentId}/links`, {}, idempotent)).status, 201);
  const { rows } = await world.sql.query("select body from idempotency_keys where key = 'a-link'");
  assert.deepEqual(rows, [{ body: null }], 'the reply is not kept: it holds a token');
});

test('link and visit end with their time, and with the key that made them', async () => {
  const late = await link();
  await world.sql.query('update agent_visits set expires_at = now() where opened_at is null');
  assert.equal((await visitor.openLink(late)).status, 404);

  const expired = await visit({ visit_seconds: 60 });
  await world.sql.query('update agent_visits set expires_at = now()');
  const own = { key: null, headers: { cookie: expired.cookie } };
  assert.deepEqual(await visitor.refused(expired.hostname, own), [401, 'missing_api_key']);

  const key = await world.keyOf(world.accountId);
  const { body } = await new Client(world, key).call('POST', `/agents/${agentId}/links`, {});
  const { cookie, hostname } = await visitor.openLink(body.url);
  assert.equal((await visitor.ask(hostname, '/', { key: null, headers: { cookie } })).status, 200);
  await world.sql.query(
    'update api_keys set revoked_at = now() where id = (select max(key_id) from agent_visits where expires_at > now())',
  );
  assert.equal((await visitor.ask(hostname, '/', { key: null, headers: { cookie } })).status, 401);
});

test("a cookie counts for the agent's own pages and for going there, not for what other pages ask", async () => {
  const { cookie, hostname } = await visit();
  const own = `http://${hostname}:${visitor.port}`;
  const cases: [number, string, Record<string, string>][] = [
    [200, 'GET', {}],
    [200, 'GET', { 'upgrade-insecure-requests': '0', referer: `${own}/page` }],
    [403, 'GET', { 'upgrade-insecure-requests': '0' }],
    [403, 'GET', { 'upgrade-insecure-requests': '0', referer: `http://${hostOf('aaaaaaaaaaaa')}:${visitor.port}/` }],
    [200, 'GET', { 'sec-fetch-site': 'same-origin' }],
    [200, 'GET', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    [200, 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    [403, 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    [403, 'GET', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }],
    [403, 'GET', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }],
    [403, 'GET', { origin: 'http://evil.example.com' }],
    [200, 'POST', { origin: own }],
    [200, 'POST', { 'sec-fetch-site': 'same-origin', origin: 'null' }],
    [403, 'POST', {}],
    [403, 'POST', { origin: 'null' }],
    [403, 'POST', { origin: `http://${hostOf('aaaaaaaaaaaa')}:${visitor.port}` }],
    [403, 'POST', { origin: `http://${hostname}:1` }],
    [403, 'DELETE', { 'sec-fetch-site': 'cross-site', origin: own }],
    [403, 'POST', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  ];
  for (const [status, method, headers] of cases) {
    const answer = await visitor.ask(hostname, '/', { key: null, method, headers: { cookie, ...headers } });
    assert.equal(answer.status, status, `${method} ${JSON.stringify(headers)}: ${answer.text}`);
  }
  const host = `${hostname}:${visitor.port}`;
  assert.equal(await visitor.handshake(host, { cookie }), 403);
  assert.equal(await visitor.handshake(host, { cookie, origin: 'http://evil.example.com' }), 403);
  const socket = visitor.socketTo(host, { cookie, origin: own });
  await once(socket, 'open');
  socket.terminate();
  const mine = await visitor.ask(hostname, '/', { headers: { cookie, origin: 'http://evil.example.com' } });
  assert.equal(mine.status, 200, 'with a key the cookie says nothing');
});

test('a port is served once it is published, to who may, and its neighbours are not', async () => {
  const id = await owner.agent('running');
  const address = `${guest.port}-${hostOf(id)}`;
  assert.deepEqual(await visitor.refused(address), [404, 'port_not_found']);
  const published = await owner.call('POST', `/agents/${id}/ports`, { port: guest.port });
  assert.equal(published.status, 201, published.text);
  assert.equal(new URL(published.body.url).hostname, address);
  assert.deepEqual((await owner.call('GET', `/agents/${id}/ports`)).body.data, [published.body]);

  const answer = await visitor.ask(address, '/', { headers: { authorization: "Basic of-the-guest's-own" } });
  assert.equal(answer.status, 200);
  assert.equal(answer.json.headers.authorization, "Basic of-the-guest's-own", 'no token of ours is added');
  assert.deepEqual(await visitor.refused(address, { key: null }), [401, 'missing_api_key']);
  assert.deepEqual(await visitor.refused(address, { key: stranger.key }), [404, 'agent_not_found']);
  assert.deepEqual(await visitor.refused(`${guest.port + 1}-${hostOf(id)}`), [404, 'port_not_found']);

  const { cookie } = await visit({ page: 'port', port: guest.port }, id);
  assert.equal((await visitor.ask(address, '/', { key: null, headers: { cookie } })).status, 200);
  assert.equal(
    (await visitor.ask(hostOf(id), '/', { key: null, headers: { cookie } })).status,
    401,
    "not the gateway's",
  );

  const opened = await owner.call('POST', `/agents/${id}/ports`, { port: guest.port, public: true });
  assert.deepEqual([opened.status, opened.body.public], [200, true]);
  const anyone = await visitor.ask(address, '/', {
    key: null,
    headers: { origin: 'http://evil.example.com', 'x-api-key': 'own' },
  });
  assert.deepEqual([anyone.status, anyone.json.headers['x-api-key']], [200, 'own']);
  const careless = await visitor.ask(address, '/', { headers: { authorization: `Bearer ${world.key}` } });
  assert.ok(!JSON.stringify(careless.json).includes('lodge_live_'), 'a key reaches no guest');

  assert.equal((await owner.call('DELETE', `/agents/${id}/ports/${guest.port}`)).status, 200);
  assert.deepEqual(await visitor.refused(address, { key: null }), [401, 'missing_api_key']);
  const again = await owner.call('DELETE', `/agents/${id}/ports/${guest.port}`);
  assert.deepEqual([again.status, again.body.error.code], [404, 'port_not_found']);
});

test('ports of the service itself are not published, and no more than a few others', async () => {
  const id = await owner.agent('running');
  for (const port of [8080, 80, 0, 65_536]) {
    const answer = await owner.call('POST', `/agents/${id}/ports`, { port });
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request'], String(port));
    assert.match(answer.body.error.message, /port/);
  }
  for (let port = 3001; port <= 3020; port += 1) {
    assert.equal((await owner.call('POST', `/agents/${id}/ports`, { port })).status, 201);
  }
  const full = await owner.call('POST', `/agents/${id}/ports`, { port: 3021 });
  assert.deepEqual([full.status, full.body.error.code], [429, 'quota_exceeded']);
  const { json } = await visitor.ask(`3001-${hostOf(id)}`, '/');
  assert.equal(json.error.code, 'agent_unavailable', 'nothing listens there');
});

test("a dashboard is at its port's address while it is on, opened by the host, and is no port that anyone publishes", async () => {
  const id = await owner.agent('running', { runtime_kind: 'runtime_b', model: 'claude-sonnet-5', dashboard: true });
  const { dashboard_url } = (await owner.call('GET', `/agents/${id}`)).body;
  const address = `9119-${hostOf(id, 'hermes')}`;
  assert.equal(new URL(dashboard_url).hostname, address);
  const { cookie, hostname } = await visit({ page: 'dashboard' }, id);
  assert.equal(hostname, address);
  const own = { key: null, headers: { cookie } };
  const page = await visitor.ask(address, '/', own);
  assert.deepEqual([page.status, page.json.headers.authorization], [200, `Bearer ${gatewayToken}`]);
  assert.equal((await visitor.ask(hostOf(id, 'hermes'), '/', own)).status, 401, "not the gateway's");
  const published = await owner.call('POST', `/agents/${id}/ports`, { port: 9119, public: true });
  assert.equal(published.status, 400, published.text);
  await owner.call('PATCH', `/agents/${id}`, { dashboard: false });
  const off = await visitor.ask(address, '/', own);
  assert.deepEqual([off.status, off.json.error.code], [404, 'route_not_found']);
});

test('a request resumes a paused agent; a stopped one says so, to people too', async () => {
  const id = await owner.agent('paused');
  assert.equal((await visitor.ask(hostOf(id), '/')).status, 200);
  assert.equal(await owner.status(id), 'running');
  const stopped = await owner.agent('stopped');
  assert.deepEqual(await visitor.refused(hostOf(stopped)), [409, 'agent_not_running']);
  const { cookie, hostname } = await visit({}, stopped);
  const page = await visitor.ask(hostname, '/', { key: null, headers: { cookie, accept: 'text/html' } });
  assert.equal(page.status, 409);
  assert.match(page.text, /<h1>The agent is not running<\/h1>/);
  await owner.call('PATCH', `/agents/${stopped}`, { lifecycle: { auto_start: true } });
  assert.equal((await visitor.ask(hostname, '/', { key: null, headers: { cookie } })).status, 200);
});
