/** Requests by which a guest would hurt others: bodies that are dear to look through, slow ones, many at once. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import type { OpenCall } from '@lodge/ports';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import type { BrokerLimits } from './call/call-limits.ts';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestAgent, TestBroker } from './testing/harness.ts';
import { watchLoopTurns } from './testing/loop-turns.ts';

const hostile = '127.0.0.2';
const bystander = '127.0.0.3';
const path = '/openai/v1/chat/completions';
const chat = { model: 'default', messages: [{ role: 'user', content: 'ping' }] };
const mebibyte = 1024 * 1024;

let llm: StubLlm;
let broker: TestBroker;
let opened: OpenCall[];
let sockets: Socket[];
beforeEach(async () => {
  llm = await startStubLlm();
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await broker.close();
  await llm.close();
});

async function start(limits: Partial<BrokerLimits> = {}, agents?: readonly TestAgent[]): Promise<void> {
  opened = [];
  broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers: [providerAt('acme', llm.openaiBaseUrl, { needsKey: false })],
    agents: agents ?? [hostile, bystander].map((address) => ({ address, model: 'acme/m', keys: {} })),
    ledger: { open: async (call) => (opened.push(call), null), close: async () => {} },
    limits,
  });
}

/** A body of `size` bytes of a piece again and again. */
const filled = (before: string, piece: string, after: string, size = 8 * mebibyte): Buffer =>
  Buffer.from(before + piece.repeat(Math.floor((size - before.length - after.length) / piece.length)) + after);

const chatOf = (piece: string): Buffer =>
  filled('{"model":"default","messages":[{"role":"user","content":"', piece, '"}]}');
const listOf = (piece: string): Buffer => filled('{"model":"default","messages":[', piece, '{}]}');

const attacks: readonly (readonly [name: string, body: Buffer, status: number])[] = [
  ['runs of base64 that just end', chatOf(`${'A'.repeat(2047)} `), 200],
  ['one run of base64', chatOf('A'), 200],
  ['empty lists', listOf('[],'), 400],
  ['empty objects', listOf('{},'), 400],
  ['numbers', listOf('0,'), 400],
  ['developers', listOf('{"role":"developer"},'), 400],
  ['depth', filled('{"model":', '[', ''), 400],
  ['depth of objects', filled('', '{"a":', ''), 400],
  ['fields', filled('{', '"\\u0061":0,', '"b":0}'), 400],
  ['quotes', chatOf(String.raw`\"`), 200],
  ['backslashes that never end', filled('{"a":"', '\\\\', ''), 400],
  ['space', filled('{', ' ', '}'), 400],
  ['digits', filled('{"model":"default","max_tokens":', '9', '}'), 400],
  ['a model', filled('{"model":"', 'm', '"}'), 400],
  ['tools', filled('{"model":"default","tools":[', '{"type":"function"},', '{}]}'), 400],
  ['options', filled('{"model":"default","stream":true,"stream_options":{"a":"', 'x', '"}}'), 400],
  ['NUL', chatOf('\0'), 400],
  [
    'bytes that are no text',
    Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(8 * mebibyte - 8, 0xff), Buffer.from('"}')]),
    400,
  ],
];

test('whatever a body of 8 MiB is filled with, the loop goes on and a bystander is answered', async (t) => {
  // All of them are looked at, however fast they come.
  await start({ bytesPerAgentPerMinute: 1024 * mebibyte });
  // The stub in this process would parse what reaches it.
  llm.rule(() => ({ text: 'ok' }));
  for (const [name, body, status] of attacks) {
    const longest = watchLoopTurns();
    const attack = broker.post(hostile, path, null, { body });
    const answers = await Promise.all(Array.from({ length: 3 }, () => broker.post(bystander, path, chat)));
    const reply = await attack;
    await reply.text();
    const ms = longest();
    t.diagnostic(`${name}: ${ms.toFixed(1)} ms of CPU in one loop turn at most`);
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 200, 200],
      name,
    );
    assert.equal(reply.status, status, name);
    assert.ok(ms < 250, `${name}: ${ms} ms`);
  }
});

test('a body that comes in tiny pieces is refused before it costs anything', async () => {
  await start();
  const socket = opener(hostile);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n`);
  const answered = once(socket, 'data');
  socket.write('1\r\n \r\n'.repeat(100_000));
  assert.match(String((await answered)[0]), /^HTTP\/1\.1 400 .*too_many_pieces/s);
  assert.equal((await broker.post(bystander, path, chat)).status, 200);
});

test('requests that are begun and never sent hold no place', async () => {
  await start({ calls: 8 });
  for (let n = 0; n < 16; n++) {
    opener(hostile).write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n{"model":`);
  }
  assert.equal((await broker.post(hostile, path, chat)).status, 200, 'not even from the agent itself');
  assert.equal((await broker.post(bystander, path, chat)).status, 200);
});

test('32 agents of two accounts that hold all they can leave a place for a call of a third', async () => {
  const attackers = Array.from({ length: 32 }, (_, n) => ({
    address: `127.0.1.${n + 1}`,
    model: 'acme/m',
    keys: {},
    accountId: `account ${n % 2}`,
  }));
  await start({}, [...attackers, { address: bystander, model: 'acme/m', keys: {} }]);
  llm.rule(({ lastUserText }) => (lastUserText === 'hold' ? { hang: 'at-once' } : { text: 'ok' }));
  const held = { model: 'default', messages: [{ role: 'user', content: 'hold' }] };
  const abort = new AbortController();
  let refused = 0;
  const calls = attackers.flatMap(({ address }) =>
    Array.from({ length: 8 }, async () => {
      const reply = await broker.post(address, path, held, { signal: abort.signal });
      if (reply.status === 429) refused++;
    }),
  );
  const over = Promise.allSettled(calls);
  while (refused + llm.requests.length < 256) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(refused, 64);
  assert.equal((await broker.post(bystander, path, chat)).status, 200);
  abort.abort();
  await over;
});

test('bodies that are held are bounded in bytes, and others have room', async () => {
  await start({ heldBytesPerAgent: 100_000 });
  llm.rule(({ lastUserText }) => (lastUserText === 'ping' ? { text: 'ok' } : { hang: 'at-once' }));
  const large = { model: 'default', messages: [{ role: 'user', content: 'x'.repeat(60_000) }] };
  const abort = new AbortController();
  const first = assert.rejects(broker.post(hostile, path, large, { signal: abort.signal }));
  while (llm.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const second = await broker.post(hostile, path, large);
  assert.equal(second.status, 429);
  assert.equal(((await second.json()) as any).error.code, 'too_many_bytes');
  const other = broker.post(bystander, path, large, { signal: abort.signal }).catch(() => null);
  for (let n = 0; n < 400 && llm.requests.length < 2; n += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(llm.requests.length, 2, 'the other agent has its own');
  abort.abort();
  assert.equal(await other, null);
  await first;
  let again = 429;
  while (again === 429) again = (await broker.post(hostile, path, { ...chat, padding: 'x'.repeat(60_000) })).status;
  assert.equal(again, 200, 'what is over is given back');
});

test('an agent sends so many bytes over time, and another has its own count', async () => {
  await start({ bytesPerAgentPerMinute: 200_000 });
  const body = { ...chat, padding: 'x'.repeat(60_000) };
  assert.equal((await broker.post(hostile, path, body)).status, 200);
  assert.equal((await broker.post(hostile, path, body)).status, 429);
  assert.equal((await broker.post(bystander, path, body)).status, 200);
});

test('no spelling of a field passes for another: escaped, doubled, in other letters', async () => {
  await start();
  const ping = '"messages":[{"role":"user","content":"ping"}]';
  // V8 compares an escaped key with keys it has read before by its raw characters.
  for (const first of [
    String.raw`{"model":"default",${ping},"stre\\u0061":1}`,
    String.raw`{"model":"default",${ping},"\\u0073":1}`,
  ]) {
    assert.equal((await broker.post(hostile, path, null, { body: first })).status, 200);
  }
  const escaped = String.raw`{"mod\u0065l":"default",${ping},"stre\u0061m":true,"\u0073tore":true}`;
  const reply = await broker.post(hostile, path, null, { body: escaped });
  assert.match(reply.headers.get('content-type')!, /event-stream/);
  await reply.text();
  const sent = llm.requests.at(-1)!;
  assert.deepEqual(sent.body.stream_options, { include_usage: true });
  assert.equal(sent.rawBody.includes('\\u'), false);
  assert.deepEqual(Object.keys(sent.body), ['model', 'messages', 'stream', 'stream_options']);
  const before = llm.requests.length;
  for (const body of [
    String.raw`{"model":"default","mod\u0065l":"x",${ping}}`,
    `{"model":"default","Model":"x",${ping}}`,
    `{"model":"default","STREAM":true,${ping}}`,
    `{"model":"default","\u017ftream":true,${ping}}`,
    `{"model":"default","stream":"true",${ping}}`,
    `{"model":"default","stream":1,${ping}}`,
    String.raw`{"model":"default","stream":true,"stream_options":{"include\u005fusage":true},${ping}}`,
    `{"model":"default","stream":true,"stream_options":{"include_usage":false,"include_usage":true},${ping}}`,
    `\ufeff{"model":"default",${ping}}`,
    `{"model":"default",${ping}}\0`,
    String.raw`{"model":"default","tools":[{"typ\u0065":"function"}],${ping}}`,
    `{"model":"default","tools":[{"type":"function","type":"web_search"}],${ping}}`,
  ]) {
    assert.equal((await broker.post(hostile, path, null, { body })).status, 400, body);
  }
  assert.equal(llm.requests.length, before);
});

test('halves of characters, large numbers and odd space go on as they came', async () => {
  await start();
  const body = String.raw`{ "model":"default","messages":[{"role":"user","content":"\ud800 \udc00\ud800 \u0000"}] ,"x":1e999,"y":-0.0 }`;
  assert.equal((await broker.post(hostile, path, null, { body })).status, 200);
  assert.equal(llm.requests[0]!.rawBody, body.replace('"default"', '"m"'));
});

test("a developer's message is the system's for providers that know no developer, and nothing else of it changes", async () => {
  await start();
  const body = String.raw`{"model":"default","messages":[{"role": "develop\u0065r","content":"\u00fc 1.0"},{"n":1.0,"role":"user","content":"developer"},{"role":"developer","x":{"role":"developer"}}]}`;
  assert.equal((await broker.post(hostile, path, null, { body })).status, 200);
  assert.equal(
    llm.requests[0]!.rawBody,
    String.raw`{"model":"m","messages":[{"role": "system","content":"\u00fc 1.0"},{"n":1.0,"role":"user","content":"developer"},{"role":"system","x":{"role":"developer"}}]}`,
  );
});

test('base64 that is no image counts as the text it is', async () => {
  await start();
  const text = 'A'.repeat(400_000);
  await broker.post(hostile, path, { model: 'default', messages: [{ role: 'user', content: text }] });
  assert.ok(opened[0]!.estimate.inputTokens > 100_000, `${opened[0]!.estimate.inputTokens}`);
});

function opener(address: string): Socket {
  const socket = connect({ port: broker.port, host: '127.0.0.1', localAddress: address });
  socket.on('error', () => {});
  sockets.push(socket);
  return socket;
}
