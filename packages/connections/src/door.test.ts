import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { startHostileServer } from './testing/hostile-server.ts';
import type { HostileServer } from './testing/hostile-server.ts';
import { known, other, startWorld } from './testing/world.ts';
import type { TestWorld } from './testing/world.ts';

const token = 'mark-7Qx9/Zt+4&Lw=2Rk<8Vb';
let world: TestWorld;
let server: HostileServer;

before(async () => {
  server = await startHostileServer(token);
});
after(() => server?.close());
afterEach(() => world?.close());
beforeEach(async () => {
  world = await startWorld({ callBounds: { responseBytes: 2 ** 20, headMs: 1_500, idleMs: 1_500, totalMs: 4_000 } });
  world.put(known, { name: 'notes', url: server.url, headers: { Authorization: `Bearer ${token}` } });
});

const get = (path: string, init: RequestInit = {}, address: string = known) =>
  world.broker.fetchFrom(address)(`${world.broker.url}/connections${path}`, init);
const last = () => server.requests.at(-1)!;

test('a request goes to where it is allowed, with the credential and without what the guest may not say', async () => {
  const answer = await get('/notes/allowed/ok?q=1&r=%2F', {
    method: 'POST',
    body: 'some text',
    headers: {
      'content-type': 'text/plain',
      authorization: "Bearer the-guest's",
      cookie: 'a=b',
      'x-forwarded-for': '1.2.3.4',
      'x-http-method-override': 'DELETE',
      'x-own': 'passes',
      x_own: 'does not',
      x_http_method_override: 'DELETE',
      transfer_encoding: 'chunked',
      range: 'bytes=0-3',
    },
  });
  assert.deepEqual([answer.status, await answer.text()], [200, 'fine']);
  const { method, url, headers } = last();
  assert.deepEqual([method, url], ['POST', '/v1/allowed/ok?q=1&r=%2F']);
  assert.equal(headers.authorization, `Bearer ${token}`);
  assert.equal(headers.host, new URL(server.url).host);
  assert.deepEqual(
    [headers['x-own'], headers['content-type'], headers['accept-encoding']],
    ['passes', 'text/plain', 'identity'],
  );
  for (const name of ['cookie', 'x-forwarded-for', 'x-http-method-override', 'range'])
    assert.ok(!(name in headers), name);
  assert.deepEqual(
    Object.keys(headers).filter((name) => name.includes('_')),
    [],
  );
  assert.equal(server.bodies.at(-1), 'some text');
});

test('each call is a line in the log of its agent, without query and credential', async () => {
  await get(`/notes/allowed/ok?secret-query=1`);
  await get('/notes/forbidden?secret-query=1');
  await get('/notes/allowed/silent');
  const said = world.lines.map(({ agentId, entry: { level, source, message } }) => [agentId, level, source, message]);
  const id = world.broker.agentId(known);
  assert.deepEqual(
    said.map((line) => line.slice(0, 3)),
    [
      [id, 'info', 'egress'],
      [id, 'warn', 'egress'],
      [id, 'warn', 'egress'],
    ],
  );
  assert.match(String(said[0]![3]), /^Connection notes: GET \/allowed\/ok was answered with 200, 4 bytes, \d+ ms\.$/);
  assert.match(String(said[1]![3]), /^Connection notes: GET \/forbidden was refused\. /);
  assert.match(String(said[2]![3]), /did not answer in time/);
  assert.doesNotMatch(JSON.stringify(said), /secret-query|mark-7Qx9/);
});

test('a guest sees its own connections, and nothing of their credentials', async () => {
  world.put(other, { name: 'theirs', url: server.url, headers: { Authorization: `Bearer ${token}` } });
  const text = await (await get('')).text();
  const { data } = JSON.parse(text) as { data: { name: string; path: string }[] };
  assert.deepEqual(
    data.map(({ name, path }) => [name, path]),
    [['notes', '/connections/notes']],
  );
  assert.doesNotMatch(text, /mark-7Qx9|uthorization|127\.0\.0\.1/);
});

test('a header that is no ASCII passes as its bytes', async () => {
  const answer = await get('/notes/allowed/odd-header');
  assert.deepEqual([answer.status, await answer.text()], [200, 'fine']);
  assert.equal(Buffer.from(answer.headers.get('x-odd')!, 'latin1').toString(), '\u65e5\u010a\u00e4');
});

test('a redirect within what is allowed is followed', async () => {
  const answer = await get('/notes/allowed/to-ok');
  assert.deepEqual([answer.status, await answer.text()], [200, 'fine']);
});

test('a change of the connection is in effect with the next call', async () => {
  assert.equal((await get('/notes/allowed/ok')).status, 200);
  world.put(known, { name: 'notes', url: server.url, headers: { 'X-Key': 'another-key' } });
  assert.equal((await get('/notes/allowed/ok')).status, 200);
  assert.deepEqual([last().headers['x-key'], last().headers.authorization], ['another-key', undefined]);
  world.put(known, { name: 'notes', url: server.url, enabled: false });
  assert.equal((await get('/notes/allowed/ok')).status, 404);
});

test('an answer of events streams by whole lines', async () => {
  const answer = await get('/notes/allowed/stalls-in-lines');
  const { value } = await answer.body!.getReader().read();
  assert.equal(Buffer.from(value).toString(), 'data: begun\n\n');
});

test('what is endless, silent, stalled or broken off is cut in time, and not taken for whole', async () => {
  const began = performance.now();
  assert.equal((await get('/notes/allowed/endless')).status, 502);
  for (const how of ['stalls', 'stalls-in-lines', 'breaks-off']) {
    await assert.rejects(async () => (await get(`/notes/allowed/${how}`)).text(), how);
  }
  assert.equal((await get('/notes/allowed/silent')).status, 504);
  assert.ok(performance.now() - began < 15_000);
  assert.match(world.lines.map(({ entry }) => entry.message).join('\n'), /more than 1048576 bytes/);
});

test('a body that is too large, or says so, is refused', async () => {
  const small = await startWorld({ callBounds: { requestBytes: 1_000 } });
  try {
    small.put(known, { name: 'notes', url: server.url });
    const before = server.requests.length;
    for (const head of ['content-length: 1001', 'transfer-encoding: chunked']) {
      const body = head.startsWith('transfer') ? `3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n` : 'x'.repeat(1_001);
      const answer = await small.raw(
        known,
        `POST /connections/notes/allowed/ok HTTP/1.1\r\nhost: x\r\n${head}\r\n\r\n${body}`,
      );
      assert.match(answer, /^HTTP\/1\.1 413 /, head);
    }
    assert.equal(server.requests.length, before);
  } finally {
    await small.close();
  }
});

test('one connection has so many calls a minute, and takes another none', async () => {
  const few = await startWorld({ callBounds: { callsPerMinute: 6 } });
  try {
    const urlOf = (name: string) => `${few.broker.url}/connections/${name}/allowed/ok`;
    for (const name of ['a', 'b']) few.put(known, { name, url: server.url });
    const statuses: number[] = [];
    for (let call = 0; call < 5; call += 1) statuses.push((await few.broker.fetchFrom(known)(urlOf('a'))).status);
    assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
    assert.equal((await few.broker.fetchFrom(known)(urlOf('b'))).status, 200);
  } finally {
    await few.close();
  }
});
