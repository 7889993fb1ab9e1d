/** Tests the client of gateways on a real socket: its reading of OpenAI's answers, and its kinds of failures. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { dialTo } from '@lodge/guest';
import { GatewayFailure } from '@lodge/ports';
import type { GatewayTurn, ReportedError } from '@lodge/ports';
import { StubGateway, answerEvents, answerJson, chunk, done, event } from '../../../testkit/src/leaf/stub-gateway.ts';
import { createGateway } from './turns.ts';

const stub = new StubGateway();
const gateway = createGateway();
const never = new AbortController().signal;

before(async () => {
  stub.server.listen(0, '127.0.0.1');
  await once(stub.server, 'listening');
});
after(() => {
  stub.server.closeAllConnections();
  stub.server.close();
});

const dial = dialTo('127.0.0.1');
const reported: ReportedError[] = [];
const turn = (changes: Partial<GatewayTurn> = {}): GatewayTurn => ({
  endpoint: { dial, baseUrl: stub.url, headers: { authorization: 'Bearer t' }, model: 'm', takesPictures: false },
  api: 'chat/completions',
  body: { model: 'm', messages: [] },
  explain(error) {
    reported.push(error);
    return { kind: 'turn_failed' };
  },
  signal: never,
  ...changes,
});
const failsWith =
  (kind: string) =>
  (error: unknown): boolean =>
    error instanceof GatewayFailure && error.facts.kind === kind;
const eventsOf = async (changes?: Partial<GatewayTurn>) =>
  Array.fromAsync((await gateway.open(turn(changes))).events());

test('a chat that streams: chunks with their text, comments, the end; events with a name are none of the API’s', async () => {
  const named = `event: hermes.tool.progress\n${event({ tool: 'terminal' })}`;
  stub.answer = answerEvents(': hello\n\n', event(chunk('po')), named, event(chunk('ng')), done, event(chunk('late')));
  const events = await eventsOf();
  assert.deepEqual(
    events.map(({ block, text, isLast }) => [block.slice(0, 7), text, isLast]),
    [
      [': hello', '', false],
      ['data: {', 'po', false],
      ['data: {', 'ng', false],
      ['data: [', '', true],
    ],
  );
  assert.deepEqual(events[1]?.data, chunk('po'));
  assert.equal(stub.requests.at(-1)?.headers.authorization, 'Bearer t');
});

test('a response that streams ends with its last event', async () => {
  const delta = event({ type: 'response.output_text.delta', delta: 'pong' });
  stub.answer = answerEvents(delta, ': comment\n\n', event({ type: 'response.completed', response: {} }), done);
  const events = await eventsOf({ api: 'responses' });
  assert.deepEqual(
    events.map(({ text, isLast }) => [text, isLast]),
    [
      ['pong', false],
      ['', true],
    ],
  );
});

test('a whole answer has its text, on both APIs', async () => {
  stub.answer = answerJson(200, { choices: [{ message: { content: 'pong' } }] });
  assert.equal((await (await gateway.open(turn())).whole()).text, 'pong');
  const parts = ['po', 'ng'].map((text) => ({ type: 'output_text', text }));
  stub.answer = answerJson(200, { output: [{ type: 'reasoning' }, { type: 'message', content: parts }, 7] });
  assert.equal((await (await gateway.open(turn({ api: 'responses' }))).whole()).text, 'pong');
  stub.answer = answerJson(200, { choices: 'none' });
  assert.deepEqual(await (await gateway.open(turn())).whole(), { body: { choices: 'none' }, text: '' });
});

test('an error is told to the runtime’s translation, as a reply, in a stream and in a whole answer', async () => {
  const error = { type: 'api_error', message: 'no' };
  stub.answer = answerJson(500, { error }, { 'retry-after': '7' });
  await assert.rejects(gateway.open(turn()), failsWith('turn_failed'));
  stub.answer = answerEvents(event(chunk('half')), event({ error }));
  await assert.rejects(eventsOf(), failsWith('turn_failed'));
  stub.answer = answerEvents(event({ type: 'error', code: 'api_error', message: 'no' }));
  await assert.rejects(eventsOf({ api: 'responses' }), failsWith('turn_failed'));
  stub.answer = answerJson(200, { error: { type: 'x'.repeat(1_000), message: 'y'.repeat(100_000) } });
  await assert.rejects((await gateway.open(turn())).whole(), failsWith('turn_failed'));
  const [reply, ...others] = reported.splice(0);
  assert.deepEqual(reply, { status: 500, ...error, retryAfterSeconds: 7 });
  const [inStream, inEvent, long] = others;
  for (const inAnswer of [inStream, inEvent]) {
    assert.deepEqual(inAnswer, { status: null, ...error, retryAfterSeconds: null });
  }
  assert.deepEqual([long?.type.length, long?.message.length], [200, 8_192]);
});

test('an answer that breaks off, is no JSON or is too large is broken off; no connection is no answer at all', async () => {
  stub.answer = answerEvents(event(chunk('half')));
  await assert.rejects(eventsOf(), failsWith('broken_off'));
  stub.answer = (res) => void res.end('<html>');
  await assert.rejects((await gateway.open(turn())).whole(), failsWith('broken_off'));
  stub.answer = (res) => void res.end(' '.repeat(17 * 1024 * 1024));
  await assert.rejects((await gateway.open(turn())).whole(), failsWith('broken_off'));
  stub.answer = (res) => void res.writeHead(500).end(' '.repeat(100_000));
  await assert.rejects(gateway.open(turn()), failsWith('broken_off'));
  const endpoint = { dial, baseUrl: 'http://127.0.0.1:1/v1', headers: {}, model: 'm', takesPictures: false };
  await assert.rejects(gateway.open(turn({ endpoint })), failsWith('not_connected'));
});

test('an answer of many small values is broken off before it is read', async () => {
  const many = `{"choices":[],"a":[${'[],'.repeat(340_000)}1]}`;
  const before = process.cpuUsage();
  stub.answer = (res) => void res.end(many);
  await assert.rejects((await gateway.open(turn())).whole(), failsWith('broken_off'));
  stub.answer = answerEvents(`data: ${many.slice(0, 1_000_000)}]}\n\n`, event(chunk('pong')), done);
  assert.deepEqual(
    (await eventsOf()).map(({ data }) => data?.['object'] ?? null),
    [null, chunk('')['object'], null],
  );
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});

test('a turn that is cut fails as whoever cut it says, and is cancelled in the guest', async () => {
  const reason = new Error('cut');
  const cutting = new AbortController();
  stub.answer = (res) => void res.writeHead(200).write(event(chunk('half')));
  const answer = await gateway.open(turn({ signal: cutting.signal }));
  setTimeout(() => cutting.abort(reason), 50);
  await assert.rejects(Array.fromAsync(answer.events()), reason);
  await stub.requests.at(-1)?.closed;
  await assert.rejects(gateway.open(turn({ signal: cutting.signal })), reason);
});
