import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { startStubLlm } from '@lodge/testkit/llm';
import type { CallLedger } from '@lodge/ports';
import type { StubLlm } from '@lodge/testkit/llm';
import type { BrokerLimits } from './call/call-limits.ts';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker, TestBrokerOptions } from './testing/harness.ts';

const a = '127.0.0.2';
const b = '127.0.0.3';
const path = '/openai/v1/chat/completions';
const chat = { model: 'default', messages: [{ role: 'user' as const, content: 'ping' }] };
const streaming = { ...chat, stream: true };

let llm: StubLlm;
let brokers: TestBroker[];
beforeEach(async () => {
  llm = await startStubLlm();
  brokers = [];
});
afterEach(async () => {
  await Promise.all(brokers.map((broker) => broker.close()));
  await llm.close();
});

async function start(limits: Partial<BrokerLimits>, more: Partial<TestBrokerOptions> = {}): Promise<TestBroker> {
  const broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers: [providerAt('acme', llm.openaiBaseUrl, { needsKey: false })],
    agents: [a, b].map((address) => ({ address, model: 'acme/m', keys: {} })),
    limits,
    ...more,
  });
  brokers.push(broker);
  return broker;
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!condition()) {
    assert.ok(Date.now() < end, 'waited too long');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const errorOf = async (reply: Response): Promise<any> => ((await reply.json()) as any).error;

test('a body over the bound is refused with 413, announced or not, and the connection stays of use', async () => {
  const broker = await start({ bodyBytes: 10_000 });
  const body = JSON.stringify({ ...chat, padding: 'x'.repeat(10_000) });
  const announced = await broker.post(a, path, null, { body });
  assert.equal(announced.status, 413);
  assert.equal((await errorOf(announced)).message, 'The body has more than 10000 bytes.');
  const socket = connect({ port: broker.port, host: '127.0.0.1', localAddress: a });
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
  socket.write(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  await received(socket, /^HTTP\/1\.1 413/);
  const small = JSON.stringify(chat);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${small.length}\r\n\r\n${small}`);
  await received(socket, /HTTP\/1\.1 200/);
  socket.destroy();
  assert.equal(llm.requests.length, 1);
});

test('the largest body there may be goes through unchanged', async () => {
  const broker = await start({});
  const content = 'ü'.repeat((8 * 1024 * 1024 - 1000) / 2);
  const reply = await broker.post(a, path, { ...chat, messages: [{ role: 'user', content }] });
  assert.equal(reply.status, 200);
  assert.equal(llm.requests[0]!.lastUserText, content);
});

test('a provider that never begins to answer is given up: 504, unreachable, connection closed', async () => {
  const broker = await start({ firstByteMs: 100 });
  llm.script([{ hang: 'at-once' }]);
  const reply = await broker.post(a, path, chat);
  assert.equal(reply.status, 504);
  assert.equal((await errorOf(reply)).message, 'Provider acme did not answer in time.');
  assert.equal(await llm.requests[0]!.ended, 'client closed');
  const [row] = await broker.rowCount(1);
  assert.deepEqual([row!.outcome, row!.status], ['unreachable', null]);
  assert.ok(row!.durationMs >= 100);
});

test('a stream that falls silent, and one that never ends, are cut', async () => {
  const silent = await start({ idleMs: 100 });
  const endless = await start({ totalMs: 1000 });
  llm.script([{ chunks: ['a', 'b'], hang: 'after-first-chunk' }]);
  llm.rule(() => ({ chunks: Array.from({ length: 1000 }, () => 'x'), intervalMs: 20 }));
  for (const broker of [silent, endless]) {
    const reply = await broker.post(a, path, streaming);
    assert.equal(reply.status, 200);
    await assert.rejects(reply.text());
    assert.equal(await llm.requests.at(-1)!.ended, 'client closed');
    const [row] = await broker.rowCount(1);
    assert.deepEqual([row!.outcome, row!.status], ['provider_error', 200]);
  }
});

test('a slow stream lives as long as it says something', async () => {
  const broker = await start({ idleMs: 1000, firstByteMs: 800 });
  llm.script([{ chunks: Array.from({ length: 12 }, () => 'x'), intervalMs: 100 }]);
  const text = await (await broker.post(a, path, streaming)).text();
  assert.match(text, /\[DONE\]/);
});

test('one agent has so many calls at once; more get 429 and a time, and another agent none of it', async () => {
  const broker = await start({ callsPerAgent: 2 });
  llm.script([{ hang: 'at-once' }, { hang: 'at-once' }]);
  const held = [broker.post(a, path, chat), broker.post(a, path, chat)];
  await until(() => llm.requests.length === 2);
  const refused = await broker.post(a, path, chat);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await errorOf(refused)).code, 'too_many_calls');
  assert.equal((await broker.post(b, path, chat)).status, 200);
  llm.release();
  for (const reply of await Promise.all(held)) assert.equal(reply.status, 200);
  await broker.rowCount(4);
  assert.equal((await broker.post(a, path, chat)).status, 200, 'the slots are free again');
  assert.deepEqual((await broker.rowCount(5)).map(({ outcome }) => outcome).sort(), [
    'ok',
    'ok',
    'ok',
    'ok',
    'refused',
  ]);
});

test('one agent begins so many calls over time, a quarter of them at once; another has its own count', async () => {
  const broker = await start({ callsPerAgentPerMinute: 12 });
  const statuses: number[] = [];
  for (let n = 0; n < 5; n++) statuses.push((await broker.post(a, path, chat)).status);
  assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
  assert.equal((await broker.post(b, path, chat)).status, 200);
  assert.equal(llm.requests.length, 4);
});

test('there is a bound for all agents together', async () => {
  const broker = await start({ calls: 1 });
  llm.script([{ hang: 'at-once' }]);
  const held = broker.post(a, path, chat);
  await until(() => llm.requests.length === 1);
  assert.equal((await broker.post(b, path, chat)).status, 429);
  llm.release();
  assert.equal((await held).status, 200);
});

test('a guest that sends its request too slowly, or opens too many connections, is cut off', async () => {
  const broker = await start({ requestMs: 1000, connectionsPerAddress: 3 });
  const sockets = Array.from({ length: 4 }, () => connect({ port: broker.port, host: '127.0.0.1', localAddress: a }));
  await once(sockets[3]!, 'close');
  const other = await broker.post(b, path, chat);
  assert.equal(other.status, 200, 'another agent is not touched by it');
  sockets[0]!.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{`);
  await once(sockets[0]!.resume(), 'close');
  for (const socket of sockets) socket.destroy();
  const rows = await broker.rowCount(2);
  assert.equal(rows.find(({ agentId }) => agentId === broker.agentId(a))!.outcome, 'cancelled');
});

test('a guest that does not read holds the provider back, and is given up when it never reads', async () => {
  const broker = await start({ idleMs: 500 });
  const piece = 'x'.repeat(100_000);
  let sent = 0;
  llm.script([{ chunks: Array.from({ length: 1000 }, () => piece), beforeChunk: (index) => void (sent = index) }]);
  const socket = connect({ port: broker.port, host: '127.0.0.1', localAddress: a }).pause();
  const body = JSON.stringify(streaming);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  const [row] = await broker.rowCount(1);
  assert.equal(row!.outcome, 'cancelled');
  assert.equal(await llm.requests[0]!.ended, 'client closed');
  assert.ok(sent < 300, `${sent} of 1000 pieces of 100 kB were taken though nobody read`);
  socket.destroy();
});

test('a row that cannot be written is tried again; refusals in a flood do not all become rows', async () => {
  const rows: unknown[] = [];
  let failing = true;
  const ledger: CallLedger = {
    open: async () => null,
    async close(call) {
      if (failing) throw new Error('database is away');
      rows.push(call);
    },
  };
  const broker = await start({ callsPerAgentPerMinute: 100_000 }, { ledger });
  let ended = false;
  const reply = broker.post(a, path, chat).then(async (response) => {
    await response.text();
    ended = true;
    return response;
  });
  await until(() => broker.logged.join().includes('not recorded yet'));
  assert.equal(ended, false, 'the guest sees no end before the row is there');
  failing = false;
  assert.equal((await reply).status, 200);
  assert.equal(rows.length, 1);
  for (let i = 0; i < 60; i++) assert.equal((await broker.post(a, path, {})).status, 400);
  await until(() => rows.length > 20);
  assert.ok(rows.length < 30, `${rows.length} rows`);
  assert.equal((await broker.post(a, path, chat)).status, 200);
});

test('closing ends the calls under way, records them and frees the port', async () => {
  const broker = await start({});
  llm.script([{ chunks: ['a', 'b'], hang: 'after-first-chunk' }]);
  const reply = await broker.post(a, path, streaming);
  const over = assert.rejects(reply.text());
  const began = performance.now();
  await broker.close();
  assert.ok(performance.now() - began < 60_000);
  await over;
  assert.deepEqual(
    broker.rows.map(({ outcome }) => outcome),
    ['cancelled'],
  );
  assert.equal(await llm.requests[0]!.ended, 'client closed');
  await assert.rejects(fetch(broker.url));
  brokers = [];
});

test('an address that is taken is an error, not a hang', async () => {
  const broker = await start({});
  const { createBroker } = await import('./broker.ts');
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const second = createBroker({
    directory: { byAddress: async () => null },
    secrets: createSecretBox(randomBytes(32)),
    ledger: { open: async () => null, close: async () => {} },
    providers: [],
    log,
  });
  await assert.rejects(second.listen({ host: '127.0.0.1', port: broker.port }), { code: 'EADDRINUSE' });
  await second.close();
});

async function received(socket: Socket, pattern: RegExp): Promise<void> {
  let got = '';
  const take = (bytes: Buffer): void => void (got += bytes.toString());
  socket.on('data', take);
  await until(() => pattern.test(got));
  socket.off('data', take);
}
