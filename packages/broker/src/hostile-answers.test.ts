/** Answers that are dear to read, streamed and not: they go on byte for byte, are counted, and hold nobody up. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker } from './testing/harness.ts';
import { watchLoopTurns } from './testing/loop-turns.ts';

const a = '127.0.0.2';
const key = 'sk-key-of-agent-a-0123456789';
const path = '/openai/v1/chat/completions';
const chat = { model: 'default', messages: [{ role: 'user', content: 'ping' }] };
const mebibyte = 1024 * 1024;
const usage = '"usage":{"prompt_tokens":3,"completion_tokens":4}';

let broker: TestBroker;
let provider: Server;
let answer: (res: ServerResponse) => void;
beforeEach(async () => {
  provider = createServer((req, res) => void req.resume().on('end', () => answer(res)));
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers: [providerAt('acme', `http://127.0.0.1:${port}/v1`)],
    agents: [{ address: a, model: 'acme/m', keys: { acme: key } }],
  });
});
afterEach(async () => {
  await broker.close();
  provider.closeAllConnections();
  provider.close();
});

const replyOf = (piece: string, size: number): string =>
  `{"choices":[],"x":[${piece.repeat(Math.floor(size / piece.length))}0],${usage}}`;
const dear: Readonly<Record<string, string>> = {
  'empty lists': replyOf('[],', 2 * mebibyte),
  numbers: replyOf('1,', 4 * mebibyte),
  'an image': replyOf(`"${'A'.repeat(1000)}",`, 12 * mebibyte),
};

test('a large reply goes on byte for byte, is counted, and the loop goes on meanwhile', async (t) => {
  for (const [name, body] of Object.entries(dear)) {
    const bytes = Buffer.from(body);
    answer = (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(bytes);
    const before = broker.rows.length;
    const longest = watchLoopTurns();
    const reply = await broker.post(a, path, chat);
    const got = Buffer.from(await reply.arrayBuffer());
    const ms = longest();
    t.diagnostic(`${name}: ${ms.toFixed(1)} ms of CPU in one loop turn at most`);
    assert.equal(reply.status, 200, name);
    assert.ok(got.equals(bytes), name);
    const { inputTokens, outputTokens, estimated } = (await broker.rowCount(before + 1)).at(-1)!;
    assert.deepEqual([inputTokens, outputTokens, estimated], [3, 4, false], name);
    assert.ok(ms < 250, `${name}: ${ms} ms`);
  }
});

test('a large event waits to be read, what comes behind it waits for it, and a key in it is taken out', async () => {
  const large = `data: {"choices":[{"delta":{}}],"x":"${'A'.repeat(mebibyte)}","key":"${key}"}\n\n`;
  const small = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
  const end = `data: {"choices":[],${usage}}\n\ndata: [DONE]\n\n`;
  const stream = small + large + small + small + large + end;
  answer = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(small);
    res.write(large + small);
    res.end(small + large + end);
  };
  const asked = { ...chat, stream: true, stream_options: { include_usage: true } };
  const text = await (await broker.post(a, path, asked)).text();
  assert.equal(text, stream.replaceAll(key, '[redacted]'));
  const [row] = await broker.rowCount(1);
  assert.deepEqual([row!.outcome, row!.outputTokens, row!.estimated], ['ok', 4, false]);
});

test('a guest that leaves while a large event is read ends its call alone', async () => {
  const abort = new AbortController();
  answer = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"choices":[]}\n\n');
    res.write(`data: {"x":[${'[],'.repeat(600_000)}0]}\n\n`, () => abort.abort());
  };
  const call = broker.post(a, path, { ...chat, stream: true }, { signal: abort.signal });
  await assert.rejects(call.then((reply) => reply.text()));
  assert.equal((await broker.rowCount(1))[0]!.outcome, 'cancelled');
  answer = (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(dear['numbers']);
  assert.equal((await broker.post(a, path, chat)).status, 200);
});

test('an answer with more in it than can be read is an error of the provider, and the next is read', async () => {
  const bodies = [`{"x":${'['.repeat(mebibyte)}`, replyOf('1,', 8 * mebibyte), 'x'.repeat(mebibyte)];
  for (const body of bodies) {
    answer = (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(body);
    assert.equal((await broker.post(a, path, chat)).status, 502);
  }
  answer = (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(dear['an image']);
  assert.equal((await broker.post(a, path, chat)).status, 200);
});

test('an error text that nobody can read in a moment is told in words of our own', async () => {
  answer = (res) =>
    void res.writeHead(400, { 'content-type': 'application/json' }).end(`{"error":[${'[],'.repeat(20_000)}0]}`);
  const reply = await broker.post(a, path, chat);
  assert.equal(reply.status, 400);
  assert.match(await reply.text(), /Provider acme answered with status 400/);
});
