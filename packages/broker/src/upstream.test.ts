import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { createKeyChecker } from './providers/key-check.ts';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker, TestBrokerOptions } from './testing/harness.ts';

const a = '127.0.0.2';
const key = 'sk-key-of-the-agent-0123456789';
const path = '/openai/v1/chat/completions';
const chat = { model: 'default', messages: [{ role: 'user', content: 'ping' }] };

let llm: StubLlm;
let closing: (() => Promise<unknown>)[];
beforeEach(async () => {
  llm = await startStubLlm({ keys: [key] });
  closing = [() => llm.close()];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

async function start(more: Partial<TestBrokerOptions> = {}): Promise<TestBroker> {
  const broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers: [providerAt('acme', llm.openaiBaseUrl, { headers: { 'x-gateway-token': 'gateway-secret-1' } })],
    agents: [{ address: a, model: 'acme/m', keys: { acme: key } }],
    ...more,
  });
  closing.push(() => broker.close());
  return broker;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('a refusal that says when to come again soon is not the runtime’s affair; one that says later is', async () => {
  const broker = await start();
  llm.script([{ status: 429, retryAfterSeconds: 0 }, { status: 503, retryAfterSeconds: 0 }, { text: 'third' }]);
  const reply = await broker.post(a, path, chat);
  assert.equal(reply.status, 200);
  assert.match(await reply.text(), /third/);
  assert.equal(llm.requests.length, 3);
  const rows = await broker.rowCount(1);
  assert.deepEqual([rows.length, rows[0]!.outcome, rows[0]!.status], [1, 'ok', 200]);
  for (const refusal of [
    { status: 429, retryAfterSeconds: 6 },
    { status: 429 },
    { status: 429, retryAfterSeconds: 0, headers: { 'x-should-retry': 'false' } },
    { status: 500, retryAfterSeconds: 0 },
  ]) {
    const seen: number = llm.requests.length;
    llm.script([refusal]);
    assert.equal((await broker.post(a, path, chat)).status, refusal.status);
    assert.equal(llm.requests.length, seen + 1, JSON.stringify(refusal));
  }
  llm.script(Array.from({ length: 3 }, () => ({ status: 503, retryAfterSeconds: 0 })));
  assert.equal((await broker.post(a, path, chat)).status, 503, 'three times and no more');
});

test('a connection that fails is tried again, and comes through once the provider is there', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
  });
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  const broker = await start({ providers: [providerAt('acme', `http://127.0.0.1:${port}/v1`)] });
  setTimeout(() => server.listen(port, '127.0.0.1'), 150);
  assert.equal((await broker.post(a, path, chat)).status, 200);
});

test('a request that was taken in is never sent twice, however it ends', async () => {
  let requests = 0;
  const server = createServer((request) => {
    requests++;
    request.resume().on('end', () => request.socket.destroy());
  });
  const port = await listening(server);
  const broker = await start({ providers: [providerAt('acme', `http://127.0.0.1:${port}/v1`)] });
  assert.equal((await broker.post(a, path, chat)).status, 502);
  assert.equal(requests, 1);
});

test("an operator's headers go with each call and come back in none; a key that is replaced is used by the next call", async () => {
  const secrets = createSecretBox(randomBytes(32));
  const broker = await start({ secrets });
  llm.script([{ text: 'the token is gateway-secret-1' }]);
  const reply = await broker.post(a, path, chat);
  assert.doesNotMatch(await reply.text(), /gateway-secret/);
  assert.equal(llm.requests[0]!.headers['x-gateway-token'], 'gateway-secret-1');
  broker.setKeys(a, { acme: 'sk-another-key-9876543210' });
  assert.equal((await broker.post(a, path, chat)).status, 401);
  assert.equal(llm.requests[1]!.key, 'sk-another-key-9876543210');
  broker.setKeys(a, { acme: key });
  assert.equal((await broker.post(a, path, chat)).status, 200);
});

test('a bare model of runtime_b belongs to the provider of its key, and to the deployment’s where there is none', async () => {
  const providers = [
    providerAt('acme', llm.openaiBaseUrl),
    providerAt('usual', llm.openaiBaseUrl, { needsKey: false }),
  ];
  const agents = [
    { address: a, model: 'house/model-1', runtimeKind: 'runtime_b', keys: { acme: key } },
    { address: '127.0.0.3', model: 'model-2', runtimeKind: 'runtime_b', keys: {} },
  ] as const;
  const broker = await start({ providers, agents, defaultProvider: 'usual' });
  assert.equal((await broker.post(a, path, chat)).status, 200);
  assert.deepEqual([llm.requests[0]!.model, llm.requests[0]!.key], ['house/model-1', key]);
  // The stub wants a key; that it was asked without one shows where the call went.
  assert.equal((await broker.post('127.0.0.3', path, chat)).status, 401);
  assert.deepEqual([llm.requests[1]!.model, llm.requests[1]!.key], ['model-2', null]);
  assert.deepEqual(
    (await broker.rowCount(2)).map(({ provider, model }) => `${provider} ${model}`),
    ['acme house/model-1', 'usual model-2'],
  );
});

test('public providers go through the egress proxy by CONNECT, with its password; private ones straight', async () => {
  const connects: string[] = [];
  const proxy = createServer((_, response) => response.writeHead(405).end());
  proxy.on('connect', (request, socket) => {
    connects.push(`${request.url} ${request.headers['proxy-authorization']}`);
    const there = connect(llm.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    const end = (): void => void (socket.destroy(), there.destroy());
    socket.on('error', end);
    there.on('error', end);
  });
  const port = await listening(proxy);
  const broker = await start({
    egressProxy: `http://user:hunter2@127.0.0.1:${port}`,
    providers: [
      providerAt('acme', 'http://llm.invalid/v1', { privateAddresses: false }),
      providerAt('literal', 'http://127.0.0.1:1/v1', { privateAddresses: false }),
      providerAt('inside', llm.openaiBaseUrl),
    ],
    agents: [{ address: a, model: 'acme/m', keys: { acme: key, inside: key, literal: key } }],
  });
  const reply = await broker.post(a, path, chat);
  assert.equal(reply.status, 200, await reply.text());
  assert.equal((await broker.post(a, path, { ...chat, model: 'inside/m' })).status, 200);
  assert.equal((await broker.post(a, path, { ...chat, model: 'literal/m' })).status, 502);
  assert.deepEqual(connects, [`llm.invalid:80 Basic ${Buffer.from('user:hunter2').toString('base64')}`]);
});

test('a key is checked by a request that costs nothing, and one sentence says how it went', async () => {
  const odd = createServer((request, response) => {
    response.writeHead(Number(request.url!.slice(1)), { location: llm.openaiBaseUrl }).end(`said ${key}`);
  });
  const port = await listening(odd);
  const at = (id: string, url: string | null, more = {}) =>
    providerAt(id, llm.openaiBaseUrl, { keyCheck: url === null ? null : { url, keyHeader: 'authorization' }, ...more });
  const checker = createKeyChecker({
    providers: [
      at('good', `${llm.openaiBaseUrl}/models`),
      at('none', null),
      at('gone', 'http://127.0.0.1:1/'),
      at('private', `${llm.openaiBaseUrl}/models`, { privateAddresses: false }),
      ...[302, 400, 402, 403, 404, 429, 500].map((status) => at(`s${status}`, `http://127.0.0.1:${port}/${status}`)),
    ],
  });
  closing.push(() => checker.close());
  const works = async (id: string, given = key): Promise<boolean | null> => {
    const verdict = await checker.check(id, given);
    assert.match(verdict.message, /^[^.]+\.$/);
    assert.ok(!verdict.message.includes(given));
    return verdict.works;
  };
  assert.equal(await works('good'), true);
  assert.equal(await works('good', 'sk-wrong-0123456789'), false);
  assert.equal(await works('good', 'sk with\nspaces'), false);
  assert.equal(await works('nobody'), false);
  for (const id of ['none', 'gone', 'private', 's302', 's403', 's404', 's429', 's500'])
    assert.equal(await works(id), null, id);
  assert.deepEqual([await works('s400'), await works('s402')], [false, true]);
  assert.equal(llm.requests.length, 2, 'a redirect was not followed');
});
