/** Files that come in parts over HTTP: the real API, engine, store and guest daemon; only the machine is not there. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openWorld, startServer } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

const mib = 1024 * 1024;
const upload = 'a-hash-of-the-file-0';
let world: World;
let client: Client;
let id: string;
let base: string;
before(async () => {
  world = await openWorld({ withGuest: true });
  client = new Client(world);
  id = await client.agent('running');
  base = join(world.guest!.root, 'workspace');
});
after(() => world?.close());

interface Asked {
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly key?: string;
  readonly agent?: string;
  readonly url?: string;
  readonly of?: string;
}
async function ask(method: string, asked: Asked = {}) {
  const { body, headers, key = world.key, agent = id, url = world.url, of = upload } = asked;
  const json = method === 'POST' ? { 'content-type': 'application/json' } : {};
  const response = await fetch(`${url}/v1/agents/${agent}/uploads/${of}`, {
    method,
    headers: { 'x-api-key': key, ...json, ...headers },
    ...(body !== undefined && { body: new Uint8Array(Buffer.from(body)) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}
const part = (offset: number, body: string | Buffer, more: Asked = {}) =>
  ask('PATCH', { ...more, body, headers: { 'upload-offset': String(offset), ...more.headers } });
const finish = (path: string, size: number, more: Asked = {}) =>
  ask('POST', { ...more, body: JSON.stringify({ path, size }) });
const codeOf = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [status, body.error?.code];

test('a file of three parts, through two servers: whole under its name at the end alone', async (t) => {
  const bytes = randomBytes(130 * mib);
  const other = await startServer({
    connectionString: world.connectionString,
    host: world.host,
    guestPort: world.guest!.port,
    loops: false,
  });
  t.after(() => other.close());
  const started = performance.now();
  for (let offset = 0, at = 0; offset < bytes.length; at += 1) {
    const body = bytes.subarray(offset, offset + 64 * mib);
    const sent = await part(offset, body, at % 2 === 0 ? {} : { url: other.url });
    assert.equal(sent.status, 200, sent.text);
    offset += body.length;
    assert.deepEqual(sent.body, { object: 'upload', id: upload, offset });
    assert.deepEqual((await ask('GET')).body, sent.body);
    assert.deepEqual(readdirSync(base), []);
  }
  const made = await finish('data/model.bin', bytes.length);
  const ms = Math.round(performance.now() - started);
  assert.deepEqual([made.status, made.body.path, made.body.size], [201, 'data/model.bin', bytes.length], made.text);
  assert.equal(made.headers.get('etag'), made.body.etag);
  const digest = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
  assert.equal(digest(readFileSync(join(base, 'data/model.bin'))), digest(bytes));
  assert.equal((await ask('GET')).body.offset, 0, 'the upload is no more');
  t.diagnostic(`130 MiB in ${ms} ms`);
});

test('after a cut the next part begins where the reply says; the old connection is in nobody’s way', async () => {
  await part(0, 'abc');
  const cut = request(`${world.url}/v1/agents/${id}/uploads/${upload}`, {
    method: 'PATCH',
    headers: { 'x-api-key': world.key, 'upload-offset': '3', 'content-length': 1_000_000 },
  });
  cut.on('error', () => undefined);
  cut.write('def');
  while ((await ask('GET')).body.offset < 6) await new Promise((resolve) => setTimeout(resolve, 10));
  const wrong = await part(3, 'xyz');
  assert.deepEqual(codeOf(wrong), [409, 'file_conflict']);
  assert.match(wrong.body.error.message, /the upload has 6 bytes/);
  assert.equal(wrong.headers.get('upload-offset'), '6');
  assert.equal((await part(6, 'ghi')).body.offset, 9);
  cut.destroy();
  assert.deepEqual(codeOf(await finish('cut', 6)), [409, 'file_conflict']);
  assert.equal(existsSync(join(base, 'cut')), false);
  assert.equal((await finish('cut', 9)).status, 201);
  assert.equal(readFileSync(join(base, 'cut'), 'utf8'), 'abcdefghi');
});

test('conditions are those of a write, and a repeated end with its key is answered as before', async () => {
  await part(0, 'new');
  assert.deepEqual(codeOf(await finish('cut', 3, { headers: { 'if-none-match': '*' } })), [412, 'precondition_failed']);
  assert.deepEqual(codeOf(await finish('cut', 3, { headers: { 'if-match': '"x"' } })), [412, 'precondition_failed']);
  assert.deepEqual(codeOf(await finish('cut/in', 3)), [409, 'file_conflict']);
  const headers = { 'idempotency-key': 'end-of-upload' };
  const first = await finish('cut', 3, { headers });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual((await finish('cut', 3, { headers })).body, first.body);
  await part(0, 'given up');
  assert.deepEqual((await ask('DELETE')).body, { object: 'upload.deleted', id: upload, deleted: true });
  assert.equal((await ask('GET')).body.offset, 0);
});

test('400, 413, 415: names the field, and nothing is taken', async () => {
  const wrong: [Promise<Awaited<ReturnType<typeof ask>>>, number, RegExp][] = [
    [ask('PATCH', { body: 'x' }), 400, /upload-offset is required/],
    [part(0, 'x', { headers: { 'upload-offset': '-1' } }), 400, /upload-offset must be a number of bytes/],
    [part(0, 'x', { of: 'short' }), 400, /upload must be 16 to 64/],
    [part(64 * 1024 * mib, 'x'), 413, /64 GiB/],
    [part(0, Buffer.alloc(64 * mib + 1)), 413, /64 MiB/],
    [part(0, 'x', { headers: { 'content-encoding': 'gzip' } }), 415, /Content-Encoding/],
    [finish('', 0), 400, /path/],
    [finish('/', 0), 400, /path must name a file/],
    [finish('a/../b', 0), 400, /path must not contain \. or \.\./],
    [finish('a', -1), 400, /size must be at least 0/],
    [finish('a', 0, { headers: { 'if-none-match': '"x"' } }), 400, /if-none-match must be \*/],
  ];
  for (const [answer, status, message] of wrong) {
    const { status: given, body, text } = await answer;
    assert.equal(given, status, text);
    assert.match(body.error.message, message);
  }
  assert.equal((await ask('GET')).body.offset, 0);
});

test('who may read sees how far it is and sends nothing; a stopped agent is woken only when that is asked for', async () => {
  const reader = await world.keyOf(world.accountId, ['agents:read']);
  assert.equal((await ask('GET', { key: reader })).status, 200);
  for (const method of ['PATCH', 'POST', 'DELETE']) {
    assert.deepEqual(codeOf(await ask(method, { key: reader })), [403, 'insufficient_scope']);
  }
  const stranger = await world.keyOf(await world.newAccount());
  assert.deepEqual(codeOf(await part(0, 'x', { key: stranger })), [404, 'agent_not_found']);
  const agent = await client.agent('stopped');
  assert.deepEqual(codeOf(await part(0, 'x', { agent })), [409, 'agent_not_running']);
  assert.equal((await part(0, 'x', { agent, of: `${upload}?wake=true` })).body.offset, 1);
  assert.equal(await client.status(agent), 'running');
});
