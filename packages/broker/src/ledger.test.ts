import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import type { CallLedger, CallRefusal, LlmCall, OpenCall } from '@lodge/ports';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker, TestBrokerOptions } from './testing/harness.ts';

const a = '127.0.0.2';
const path = '/openai/v1/chat/completions';
const chat = { model: 'default', messages: [{ role: 'user', content: 'ping' }], max_tokens: 50 };
const prices = {
  price: (_provider: string, _model: string, usage: Pick<LlmCall, 'inputTokens' | 'outputTokens'>) => ({
    costUsd: `${usage.inputTokens!}.${usage.outputTokens!}`,
    version: 'list-1',
  }),
};

let llm: StubLlm;
let broker: TestBroker;
let opened: OpenCall[];
let closed: LlmCall[];
/** Called before what it is named after is written. */
let before: { open?: () => Promise<CallRefusal | null>; close?: () => Promise<void> };

beforeEach(async () => {
  llm = await startStubLlm();
  [opened, closed, before] = [[], [], {}];
});
afterEach(async () => {
  await broker.close();
  await llm.close();
});

async function start(more: Partial<TestBrokerOptions> = {}): Promise<void> {
  const ledger: CallLedger = {
    async open(call) {
      const refusal = (await before.open?.()) ?? null;
      if (!refusal) opened.push(call);
      return refusal;
    },
    async close(call) {
      await before.close?.();
      closed.push(call);
    },
  };
  broker = await startTestBroker({
    secrets: createSecretBox(randomBytes(32)),
    providers: [providerAt('acme', llm.openaiBaseUrl, { needsKey: false })],
    agents: [{ address: a, model: 'acme/m', keys: {} }],
    ledger,
    prices,
    ...more,
  });
}

test('a call is in the ledger before it goes out, with an estimate of what it may take at most', async () => {
  await start();
  let requestsThen = -1;
  before.open = async () => {
    requestsThen = llm.requests.length;
    return null;
  };
  await (await broker.post(a, path, chat)).text();
  await (await broker.post(a, path, chat)).text();
  assert.equal(requestsThen, 1, 'the second had not gone out yet');
  const [one, two] = opened;
  assert.equal(one!.estimate.outputTokens, 50);
  assert.equal(one!.estimate.inputTokens, Math.ceil(JSON.stringify(chat).length / 4));
  assert.equal(one!.estimate.costUsd, `${one!.estimate.inputTokens}.50`);
  assert.deepEqual([one!.id, one!.provider, one!.model], [closed[0]!.id, 'acme', 'm']);
  assert.equal(one!.digest, two!.digest, 'the same request has the same digest');
  assert.equal(closed[0]!.priceVersion, 'list-1');
});

test('an image is a few tokens in the estimate, not one for each four of its letters', async () => {
  await start();
  const url = `data:image/png;base64,${'iVBORw0KGgo'.repeat(40_000)}`;
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  await (await broker.post(a, path, { ...chat, messages })).text();
  assert.ok(opened[0]!.estimate.inputTokens < 2000, `${opened[0]!.estimate.inputTokens}`);
});

test('pictures of some MiB go through as they are, and count as one picture each', async () => {
  await start();
  const url = `data:image/jpeg;base64,${Buffer.alloc(1.125 * 1024 * 1024, 'picture').toString('base64')}`;
  const parts = Array.from({ length: 4 }, () => ({ type: 'image_url', image_url: { url } }));
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...parts] }];
  assert.equal((await broker.post(a, path, { ...chat, messages })).status, 200);
  assert.deepEqual(llm.requests.at(-1)!.body.messages, messages);
  const { inputTokens } = opened[0]!.estimate;
  assert.ok(inputTokens > 4_000 && inputTokens < 8_000, `${inputTokens}`);
});

test('a call that the ledger refuses goes nowhere; the runtime is told why, and when it need not try again', async () => {
  await start();
  const refusal = { code: 'spend_limit_exceeded', message: 'The limit is reached.', retryAfterSeconds: 3600 } as const;
  before.open = async () => ({ ...refusal, ends: 'turn' });
  const response = await broker.post(a, path, chat);
  assert.equal(response.status, 429);
  assert.equal(response.headers.get('retry-after'), '3600');
  assert.equal(response.headers.get('x-should-retry'), 'false');
  const { error } = (await response.json()) as any;
  assert.deepEqual([error.code, error.message, error.type], [refusal.code, refusal.message, 'rate_limit_error']);
  before.open = async () => refusal;
  assert.equal((await broker.post(a, path, chat)).headers.get('x-should-retry'), null);
  assert.equal(llm.requests.length, 0);
  assert.deepEqual([...new Set(closed.map(({ outcome, costUsd }) => `${outcome} ${costUsd}`))], ['refused null']);
});

test('names of models that a guest makes up are few in the ledger; what each call costs is by its own', async () => {
  await start({ limits: { callsPerAgentPerMinute: 1_000 } });
  for (let n = 0; n < 203; n += 1) await broker.post(a, path, { ...chat, model: `acme/made-up-${n}` });
  const names = new Set(closed.map(({ model }) => model));
  assert.deepEqual([closed.length, names.size, closed.at(-1)!.model], [203, 201, 'other']);
  assert.equal(llm.requests.at(-1)!.body.model, 'made-up-202');
  assert.deepEqual(
    opened.map(({ model }) => model),
    closed.map(({ model }) => model),
  );
});

test('a ledger that cannot be written makes no call: 503, soon', async () => {
  await start();
  before.open = () => Promise.reject(new Error('database is away'));
  const began = performance.now();
  const response = await broker.post(a, path, chat);
  assert.equal(response.status, 503);
  assert.equal(response.headers.get('retry-after'), '2');
  assert.doesNotMatch(await response.text(), /database/);
  assert.ok(performance.now() - began < 60_000);
  assert.equal(llm.requests.length, 0);
});

test('the row is written before the guest sees the end of a stream, of a reply, of an error', async () => {
  await start();
  const seen: string[] = [];
  let got = '';
  before.close = async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    seen.push(got);
  };
  llm.script([{ text: 'a b c d e f' }, { text: 'whole' }, { status: 500 }]);
  for (const stream of [true, false, false]) {
    got = '';
    const response = await broker.post(a, path, { ...chat, stream });
    for await (const chunk of response.body!) got += Buffer.from(chunk as Uint8Array).toString();
    assert.notEqual(got, '');
  }
  assert.match(seen[0]!, /finish_reason":"stop/, 'all but the last word had gone out');
  assert.doesNotMatch(seen[0]!, /DONE/);
  assert.deepEqual(seen.slice(1), ['', '']);
});

test('a provider that says [DONE] and does not hang up is not waited for', async () => {
  await start({ limits: { lastWordMs: 100 } });
  const body = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\ndata: [DONE]\n\n';
  const { createServer } = await import('node:http');
  const slow = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(body);
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const { port } = slow.address() as { port: number };
  await broker.close();
  await start({
    limits: { lastWordMs: 100 },
    providers: [providerAt('acme', `http://127.0.0.1:${port}/v1`, { needsKey: false })],
  });
  const asked = { ...chat, stream: true, stream_options: { include_usage: true } };
  assert.equal(await (await broker.post(a, path, asked)).text(), body);
  assert.deepEqual([closed[0]!.outcome, closed[0]!.outputTokens, closed[0]!.estimated], ['ok', 4, false]);
  slow.closeAllConnections();
  slow.close();
});
