import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { createSecretBox } from '@lodge/access';
import { maskModel } from '@lodge/domain';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { providerAt, startTestBroker } from './testing/harness.ts';
import type { TestBroker } from './testing/harness.ts';

const a = '127.0.0.2';
const b = '127.0.0.3';
const c = '127.0.0.4';
const d = '127.0.0.5';
const stranger = '127.0.0.99';
const keyA = 'sk-key-of-agent-a-0123456789';
const keyB = 'sk-key-of-agent-b-0123456789';
const keyC = 'sk-ant-key-of-agent-c-0123456789';
const secrets = createSecretBox(randomBytes(32));

let llm: StubLlm;
let keyless: StubLlm;
let broker: TestBroker;
beforeEach(async () => {
  llm = await startStubLlm({ keys: [keyA, keyB, keyC] });
  keyless = await startStubLlm();
  broker = await startTestBroker({
    secrets,
    providers: [
      providerAt('acme', llm.openaiBaseUrl),
      providerAt('other', llm.openaiBaseUrl),
      providerAt('claude', `${llm.anthropicBaseUrl}/v1`, { api: 'anthropic-messages' }),
      providerAt('open', keyless.openaiBaseUrl, { needsKey: false }),
    ],
    agents: [
      { address: a, model: 'acme/big/model-1', keys: { acme: keyA } },
      { address: b, model: 'acme/small', keys: { acme: keyB, other: keyB } },
      { address: c, model: 'claude/opus', keys: { claude: keyC } },
      { address: d, model: 'acme/big', keys: {} },
    ],
  });
});
afterEach(async () => {
  await broker.close();
  await llm.close();
  await keyless.close();
});

const messages = [{ role: 'user' as const, content: 'ping' }];
const chat = { model: 'default', messages };
const openaiPath = '/openai/v1/chat/completions';
const anthropicPath = '/anthropic/v1/messages';

test('every answer ends its connection: a guest that is stopped has none that it would go on with', async () => {
  const calls = [
    broker.post(a, openaiPath, chat),
    broker.post(a, openaiPath, { ...chat, stream: true }),
    broker.fetchFrom(a)(`${broker.url}/openai/v1/models`),
  ];
  for (const [call, status] of [200, 200, 200].entries()) {
    const response = await calls[call]!;
    assert.deepEqual([response.status, response.headers.get('connection')], [status, 'close']);
    await response.text();
  }
});

test("the agent's model and key are put in; of the guest's headers only harmless ones go on", async () => {
  const response = await broker.post(a, openaiPath, chat, {
    headers: {
      authorization: 'Bearer from-the-guest',
      'x-api-key': 'from-the-guest',
      cookie: 'c=from-the-guest',
      'openai-organization': 'from-the-guest',
      'x-forwarded-for': b,
      'proxy-authorization': 'from-the-guest',
    },
  });
  assert.equal(response.status, 200);
  const [seen] = llm.requests;
  assert.equal(seen!.model, 'big/model-1');
  assert.equal(seen!.key, keyA);
  assert.equal(seen!.path, '/v1/chat/completions');
  assert.ok(!JSON.stringify(seen!.headers).includes('from-the-guest'));
  assert.deepEqual(Object.keys(seen!.headers).sort(), [
    'accept',
    'accept-encoding',
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
  ]);
});

test('a model that a guest names masked is the one it would be plain', async () => {
  await broker.post(b, openaiPath, { ...chat, model: maskModel('other/special') });
  assert.equal(llm.requests.at(-1)?.body['model'], 'special');
  await broker.post(b, openaiPath, { ...chat, model: maskModel('claude/opus') });
  assert.equal(llm.requests.at(-1)?.body['model'], 'small', 'no key for that provider: its own model');
});

test('Anthropic: x-api-key and version go out, the beta a guest asks for too', async () => {
  const headers = { 'x-api-key': 'from-the-guest', 'anthropic-beta': 'fine-grained-tool-streaming-2025-05-14' };
  const response = await broker.post(c, anthropicPath, { ...chat, max_tokens: 5 }, { headers });
  const reply: any = await response.json();
  assert.deepEqual(reply.content, [{ type: 'text', text: 'You said: ping' }]);
  const [seen] = llm.requests;
  assert.deepEqual([seen!.model, seen!.key, seen!.path], ['opus', keyC, '/v1/messages']);
  assert.equal(seen!.headers['anthropic-version'], '2023-06-01');
  assert.equal(seen!.headers['anthropic-beta'], headers['anthropic-beta']);
  assert.equal(seen!.headers.authorization, undefined);
});

test('agents that call at the same time never get the key, the model or the row of another', async () => {
  const calls = Array.from({ length: 24 }, (_, index) => {
    const address = [a, b, c][index % 3]!;
    const body = { ...chat, max_tokens: 5, messages: [{ role: 'user', content: address }], stream: index % 2 === 0 };
    return broker.post(address, address === c ? anthropicPath : openaiPath, body).then((reply) => reply.text());
  });
  const replies = await Promise.all(calls);
  for (const [index, reply] of replies.entries()) assert.match(reply, new RegExp([a, b, c][index % 3]!));
  const keys: Record<string, string> = { [a]: keyA, [b]: keyB, [c]: keyC };
  const models: Record<string, string> = { [a]: 'big/model-1', [b]: 'small', [c]: 'opus' };
  assert.equal(llm.requests.length, 24);
  for (const { lastUserText, key, model } of llm.requests) {
    assert.deepEqual([key, model], [keys[lastUserText], models[lastUserText]]);
  }
  const rows = await broker.rowCount(24);
  for (const address of [a, b, c]) {
    const own = rows.filter(({ agentId }) => agentId === broker.agentId(address));
    assert.equal(own.length, 8);
    assert.ok(own.every(({ model, outcome }) => model === models[address] && outcome === 'ok'));
  }
});

test('a model named with its provider is honoured only where the agent was given that provider', async () => {
  const named = async (address: string, model: string) => {
    const reply = await broker.post(address, openaiPath, { ...chat, model });
    assert.equal(reply.status, 200, await reply.text());
    const { provider } = (await broker.rowCount(llm.requests.length + keyless.requests.length)).at(-1)!;
    const { model: sent, key } = (provider === 'open' ? keyless : llm).requests.at(-1)!;
    return [provider, sent, key];
  };
  assert.deepEqual(await named(b, 'other/gpt'), ['other', 'gpt', keyB]);
  assert.deepEqual(await named(a, 'other/gpt'), ['acme', 'big/model-1', keyA], 'a has no key for other');
  assert.deepEqual(await named(a, 'open/llama'), ['open', 'llama', null], 'open needs none');
  for (const model of ['gpt', '', 'nobody/x', 'claude/opus', '__proto__/x', 'constructor/x', '../x', '/', 'default/']) {
    assert.deepEqual(await named(a, model), ['acme', 'big/model-1', keyA], model);
  }
});

test('the wrong API for the provider is refused in words, in the shape of the API that was used', async () => {
  const wrong = await broker.post(c, openaiPath, chat);
  assert.equal(wrong.status, 400);
  const message = `Provider claude speaks another API. Send this to ${anthropicPath}.`;
  assert.deepEqual(await wrong.json(), {
    error: { message, type: 'invalid_request_error', param: null, code: 'wrong_api' },
  });
  const other = await broker.post(a, anthropicPath, chat);
  assert.equal(other.status, 400);
  assert.deepEqual(await other.json(), {
    type: 'error',
    error: { type: 'invalid_request_error', message: `Provider acme speaks another API. Send this to ${openaiPath}.` },
  });
  assert.equal(llm.requests.length, 0);
  assert.deepEqual(
    (await broker.rowCount(2)).map(({ outcome, status }) => [outcome, status]),
    [
      ['refused', null],
      ['refused', null],
    ],
  );
});

test('an agent without a key is told so, and nothing is sent', async () => {
  await assert.rejects(broker.openaiFrom(d).chat.completions.create(chat), {
    status: 401,
    code: 'missing_provider_key',
    message: '401 No API key for provider acme is set on this agent.',
  });
  assert.equal(llm.requests.length, 0);
  const [row] = await broker.rowCount(1);
  assert.deepEqual([row!.outcome, row!.provider, row!.model, row!.status], ['refused', 'acme', 'big', null]);
});

test('a stranger gets 403 on every path and learns nothing, not even which paths there are', async () => {
  const replies = new Set<string>();
  for (const path of [openaiPath, '/openai/v1/models', '/', '/nothing']) {
    const reply = await broker.post(stranger, path, chat);
    assert.equal(reply.status, 403);
    replies.add(await reply.text());
  }
  assert.deepEqual(
    [...replies],
    ['{"error":{"message":"Not allowed.","type":"permission_error","param":null,"code":"forbidden"}}'],
  );
  const anthropic = await broker.post(stranger, anthropicPath, chat);
  assert.equal(anthropic.status, 403);
  assert.deepEqual(await anthropic.json(), {
    type: 'error',
    error: { type: 'permission_error', message: 'Not allowed.' },
  });
  assert.equal(broker.rows.length, 0);
});

test('a key sealed for one agent is of no use in the record of another', async (t) => {
  const sealedForA = secrets.seal(keyA, 'llm_key:agent127002:acme');
  const thief = await startTestBroker({
    secrets: { ...secrets, seal: () => sealedForA, open: (sealed, context) => secrets.open(sealed, context) },
    providers: [providerAt('acme', llm.openaiBaseUrl)],
    agents: [{ address: b, model: 'acme/m', keys: { acme: '' } }],
  });
  t.after(() => thief.close());
  const reply = await thief.post(b, openaiPath, chat);
  assert.equal(reply.status, 500);
  assert.match(await reply.text(), /cannot be read/);
  assert.equal(llm.requests.length, 0);
});

test('models can be listed: the one that stands for the own', async () => {
  const ids = [];
  for await (const model of broker.openaiFrom(a).models.list()) ids.push(model.id);
  assert.deepEqual(ids, ['default']);
  assert.equal((await broker.openaiFrom(a).models.retrieve('default')).id, 'default');
  const anthropic = await broker.fetchFrom(c)(`${broker.url}/anthropic/v1/models`);
  assert.equal(((await anthropic.json()) as any).first_id, 'default');
  await assert.rejects(broker.openaiFrom(a).embeddings.create({ model: 'default', input: 'x' }), { status: 404 });
  assert.equal(llm.requests.length, 0);
});

test('bodies that are none are refused with 400', async () => {
  for (const body of ['', '{', '[]', 'null', '"x"', '{}', '{"model":1}']) {
    const reply = await broker.post(a, openaiPath, null, { body });
    assert.equal(reply.status, 400, body);
    assert.equal(((await reply.json()) as any).error.type, 'invalid_request_error');
  }
  const zipped = await broker.post(a, openaiPath, chat, { headers: { 'content-encoding': 'gzip' } });
  assert.equal(zipped.status, 400);
  assert.equal(llm.requests.length, 0);
});
