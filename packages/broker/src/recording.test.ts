/** The kept contents of calls, for agents whose account records them and for others. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { callContentContext } from '@lodge/ports';
import type { CallContent, CallRefusal, LlmCall, SealedContent } from '@lodge/ports';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker } from './testing/harness.ts';

const keeps = '127.0.0.2';
const keepsNot = '127.0.0.3';
const key = 'sk-marked-key-of-the-user';
const path = '/openai/v1/chat/completions';
const secrets = createSecretBox(randomBytes(32));
const most = 256 * 1024;

let llm: StubLlm;
let broker: TestBroker;
/** Whether the host's disk has room. */
let hasRoom = true;
let refusal: CallRefusal | null = null;
let closed: { call: LlmCall; content: SealedContent | null | undefined }[] = [];

before(async () => {
  llm = await startStubLlm();
  const agents = [keeps, keepsNot].map((address) => ({
    address,
    model: 'acme/m',
    keys: { acme: key },
    keepsContents: address === keeps,
  }));
  broker = await startTestBroker({
    secrets,
    providers: [providerAt('acme', llm.openaiBaseUrl)],
    agents,
    hasRoom: () => hasRoom,
    ledger: { open: async () => refusal, close: async (call, content) => void closed.push({ call, content }) },
  });
});
after(async () => {
  await broker.close();
  await llm.close();
});
afterEach(() => {
  closed = [];
  llm.reset();
});

const chat = (content: string, more: object = {}) => ({
  model: 'default',
  messages: [{ role: 'user', content }],
  ...more,
});

/** The kept contents of the last call. */
async function kept(): Promise<CallContent & { readonly truncated: boolean }> {
  while (closed.length === 0) await new Promise(setImmediate);
  const { call, content } = closed.at(-1)!;
  assert.ok(content);
  const opened = JSON.parse(secrets.open(content.sealed, callContentContext(call.id))) as CallContent;
  return { ...opened, truncated: content.truncated };
}

test('of a reply, a stream and an error the bodies are kept as they came, and no header', async () => {
  for (const [given, stream] of [
    [{ text: 'plum pie' }, false],
    [{ text: 'plum pie of ten' }, true],
    [{ status: 400, message: 'no plum' }, false],
  ] as const) {
    closed = [];
    llm.script([given]);
    const body = chat('plum?', stream ? { stream, stream_options: { include_usage: true } } : {});
    const text = await (await broker.post(keeps, path, body)).text();
    assert.deepEqual(await kept(), { request: JSON.stringify(body), response: text, truncated: false });
  }
});

test("a provider that says the user's key has it taken out of what is kept, and so has a request", async () => {
  for (const stream of [false, true]) {
    closed = [];
    llm.script([{ text: `your plum key is ${key}!` }]);
    await (await broker.post(keeps, path, chat(`plum ${key}`, { stream }))).text();
    const content = await kept();
    assert.match(content.request!, /plum \[redacted\]/);
    if (!stream) assert.match(content.response!, /is \[redacted\]!/);
    assert.equal(JSON.stringify(content).includes(key), false);
  }
});

test('of each no more is kept than its bound, in whole characters, and it is said', async () => {
  llm.script([{ chunks: Array.from({ length: 40 }, () => 'plüm '.repeat(2000)) }]);
  const body = chat('plüm '.repeat(60_000), { stream: true });
  const text = await (await broker.post(keeps, path, body)).text();
  const { request, response, truncated } = await kept();
  assert.equal(truncated, true);
  for (const [part, whole] of [
    [request!, JSON.stringify(body)],
    [response!, text],
  ] as const) {
    assert.ok(whole.startsWith(part));
    assert.ok(Buffer.byteLength(part) <= most && Buffer.byteLength(part) > most - 4, `${Buffer.byteLength(part)}`);
  }
});

test('an answer that breaks off is kept as far as whole events came; one that never came is null', async () => {
  llm.script([{ chunks: ['plum ', 'pie ', 'of '], cutAfterChunks: 2 }]);
  await assert.rejects((await broker.post(keeps, path, chat('plum?', { stream: true }))).text());
  assert.match((await kept()).response!, /plum .*pie /s);
  closed = [];
  const abort = new AbortController();
  llm.script([{ hang: 'at-once' }]);
  const given = broker.post(keeps, path, chat('plum?'), { signal: abort.signal });
  while (llm.requests.length < 2) await new Promise(setImmediate);
  abort.abort();
  await assert.rejects(given);
  const { request, response } = await kept();
  assert.match(request!, /plum\?/);
  assert.equal(response, null);
});

test('of an account that does not want it nothing is kept', async () => {
  llm.script([{ text: 'plum' }, { text: 'plum' }, { status: 500 }]);
  for (const stream of [false, true, false])
    await (await broker.post(keepsNot, path, chat('plum?', { stream }))).text();
  assert.deepEqual(
    closed.map(({ content }) => content),
    [null, null, null],
  );
});

test('of what is asked of nobody nothing is kept, and few rows; nor is anything while the disk is low', async () => {
  refusal = { code: 'spend_limit_exceeded', message: 'The limit is reached.', retryAfterSeconds: 60 };
  // As many at once as an agent may begin.
  for (let n = 0; n < 50; n += 1) assert.equal((await broker.post(keeps, path, chat('plum '.repeat(999)))).status, 429);
  refusal = null;
  assert.ok(closed.length > 0 && closed.length <= 20, `${closed.length} rows`);
  assert.deepEqual(
    [...new Set(closed.map(({ call, content }) => `${call.outcome} ${content === null}`))],
    ['refused true'],
  );
  closed = [];
  hasRoom = false;
  llm.script([{ text: 'plum' }]);
  await (await broker.post(keeps, path, chat('plum?'))).text();
  hasRoom = true;
  assert.deepEqual(
    closed.map(({ call, content }) => `${call.outcome} ${content === null}`),
    ['ok true'],
  );
});
