import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker } from './testing/harness.ts';

const a = '127.0.0.2';
const key = 'sk-proj/key+of"the-agent/0123456789';
const path = '/openai/v1/chat/completions';
const chat = { model: 'default', messages: [{ role: 'user' as const, content: 'ping' }] };

let llm: StubLlm;
let broker: TestBroker;
beforeEach(async () => {
  llm = await startStubLlm();
  const port = new URL(llm.openaiBaseUrl).port;
  const builtin = { operatorAdded: false, privateAddresses: false };
  const keys = Object.fromEntries(['acme', 'literal', 'literal6', 'named', 'gone'].map((id) => [id, key]));
  broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers: [
      providerAt('acme', llm.openaiBaseUrl),
      providerAt('literal', llm.openaiBaseUrl, builtin),
      providerAt('literal6', `http://[::1]:${port}/v1`, builtin),
      providerAt('named', `http://localhost:${port}/v1`, builtin),
      providerAt('gone', `http://127.0.0.1:${await freePort()}/v1`),
    ],
    agents: [{ address: a, model: 'acme/m', keys }],
  });
});
afterEach(async () => {
  await broker.close();
  await llm.close();
});

test("the provider's own errors pass on, with the time to wait, and are in the row", async () => {
  llm.script([
    { status: 429, retryAfterSeconds: 7, headers: { 'x-ratelimit-remaining-requests': '0' } },
    { status: 500 },
  ]);
  const limited = await broker.post(a, path, chat);
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get('retry-after'), '7');
  assert.equal(limited.headers.get('x-ratelimit-remaining-requests'), '0');
  assert.equal(((await limited.json()) as any).error.code, 'rate_limit_exceeded');
  assert.equal((await broker.post(a, path, chat)).status, 500);
  const rows = await broker.rowCount(2);
  assert.deepEqual(
    rows.map(({ outcome, status }) => [outcome, status]),
    [
      ['provider_error', 429],
      ['provider_error', 500],
    ],
  );
});

test('a key that a provider repeats reaches neither the guest nor the log', async () => {
  const inJson = JSON.stringify(key).slice(1, -1);
  const echo = (contentType: string, body: string, status = 200) => ({ status, raw: { contentType, body } });
  llm.script([
    { status: 401, message: `Incorrect API key provided: ${key}.` },
    echo('application/json', `{"error":{"message":"key ${inJson.replaceAll('/', String.raw`\/`)}"}}`, 403),
    echo('application/json', `{"error":{"message":"key sk-pro**********6789, see ${encodeURIComponent(key)}"}}`, 401),
    echo('text/html', `<p>${key}</p>`, 500),
    echo('application/json', `{"choices":[],"echo":"${inJson}"}`),
    echo('text/event-stream', `data: {"choices":[],"echo":"${inJson}"}\n\ndata: {"error":{"message":"${inJson}"}}\n\n`),
    { text: 'x', headers: { 'x-request-id': key, 'x-other': key, 'set-cookie': `k=${key}` } },
  ]);
  for (let i = 0; i < 7; i++) {
    const reply = await broker.post(a, path, chat);
    const all = (await reply.text()) + JSON.stringify([...reply.headers]);
    for (const trace of ['0123456789', 'sk-proj', 'sk-pro*', '6789']) {
      assert.ok(!all.includes(trace), `reply ${i} has ${trace}: ${all}`);
    }
    if (i !== 3) assert.match(all, /\[redacted\]/, `reply ${i}`);
  }
  await broker.rowCount(7);
  assert.ok(!broker.logged.join().includes('0123456789'));
  assert.ok(!JSON.stringify(broker.rows).includes('0123456789'));
  assert.ok(
    llm.requests.every((request) => request.key === key),
    'the provider itself got the key as it is',
  );
});

test('an error that is no JSON, or endless, becomes one in the shape of the API', async () => {
  llm.script([
    { status: 503, raw: { contentType: 'text/html', body: '<h1>Down</h1>' } },
    { status: 500, raw: { contentType: 'application/json', body: `"${'x'.repeat(100_000)}"` } },
    { raw: { contentType: 'text/html', body: '<h1>Log in to the hotel network</h1>' } },
  ]);
  const message = async (status: number): Promise<string> => {
    const reply = await broker.post(a, path, chat);
    assert.equal(reply.status, status);
    return ((await reply.json()) as any).error.message;
  };
  assert.equal(await message(503), 'Provider acme answered with status 503.');
  assert.equal(await message(500), 'Provider acme answered with status 500.');
  assert.equal(await message(502), 'Provider acme answered with something that is not JSON.');
  for (const { outcome } of await broker.rowCount(3)) assert.equal(outcome, 'provider_error');
});

test('a redirect is not followed and its address not told', async () => {
  const location = `${llm.openaiBaseUrl}/elsewhere`;
  llm.script([{ status: 307, headers: { location }, raw: { contentType: 'text/plain', body: location } }]);
  const reply = await broker.post(a, path, chat);
  assert.equal(reply.status, 502);
  assert.ok(!((await reply.text()) + JSON.stringify([...reply.headers])).includes('elsewhere'));
  assert.equal(llm.requests.length, 1);
  assert.deepEqual([(await broker.rowCount(1))[0]!.outcome, broker.rows[0]!.status], ['provider_error', 307]);
});

test('a compressed answer, which nobody asked for and cannot be read on the way, is refused', async () => {
  llm.script([{ headers: { 'content-encoding': 'gzip' }, text: 'x' }]);
  assert.equal((await broker.post(a, path, chat)).status, 502);
  assert.equal(llm.requests[0]!.headers['accept-encoding'], 'identity');
});

test('a built-in provider whose name leads to a private address gets nothing, by name or number', async () => {
  for (const id of ['literal', 'literal6', 'named']) {
    const reply = await broker.post(a, path, { ...chat, model: `${id}/m` });
    assert.equal(reply.status, 502, id);
    assert.deepEqual(((await reply.json()) as any).error.message, `Provider ${id} could not be reached.`);
  }
  assert.equal(llm.requests.length, 0);
  for (const { outcome, status } of await broker.rowCount(3)) {
    assert.deepEqual([outcome, status], ['unreachable', null]);
  }
  assert.match(broker.logged.join(), /PrivateAddressError/);
  const own = await broker.post(a, path, chat);
  assert.equal(own.status, 200, 'the same address is fine for one the operator added');
});

test('a provider that is not there is a 502 soon, and recorded as unreachable', async () => {
  const began = performance.now();
  await assert.rejects(broker.openaiFrom(a).chat.completions.create({ ...chat, model: 'gone/m' }), {
    status: 502,
    code: 'provider_unavailable',
    message: '502 Provider gone could not be reached.',
  });
  assert.ok(performance.now() - began < 60_000);
  const [row] = await broker.rowCount(1);
  assert.deepEqual([row!.outcome, row!.provider, row!.status, row!.inputTokens], ['unreachable', 'gone', null, null]);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
