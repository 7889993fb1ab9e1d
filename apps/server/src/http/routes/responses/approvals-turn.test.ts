/** Turns in which a call waits for its owner's yes, as their clients see them, and decisions in a request for a response. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Confirmations } from '@lodge/domain';
import { confirmCommand } from '@lodge/engine';
import OpenAI from 'openai';
import { openChat } from '../../../../../../packages/testkit/src/plane/http/open-chat.ts';
import { answerJson, chunk, done, event } from '../../../../../../packages/testkit/src/leaf/stub-gateway.ts';

const lodge = await openChat({ api: (usual) => ({ ...usual, chatTimeoutMs: 20_000 }) });
after(lodge.close);
const { gateway, id: agentId, baseUrl, apiKey, accountId } = lodge;
const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
const confirmations: Confirmations = {
  rules: [{ on: 'command', match: 'git push*', policy: 'ask' }],
  default: 'allow',
  deliver: [],
  deciders: [],
  expires: '24h',
};
const rules = { rules: confirmations.rules };
assert.equal((await lodge.call('PATCH', `/v1/agents/${agentId}`, { body: { confirmations: rules } })).status, 200);

beforeEach(() => {
  gateway.requests = [];
});

/** The agent's runtime asks before a command. */
const push = (branch: string, signal = new AbortController().signal) => {
  const text = `git push ${branch}`;
  const command = { tool: 'exec', text, detail: '', digest: hash('sha256', text, 'hex') };
  return confirmCommand(lodge.parts.engine.asking, { agentId, accountId, confirmations }, command, signal);
};

async function pending(): Promise<string> {
  for (;;) {
    const { body } = await lodge.call('GET', `/v1/confirmations?status=pending&agent_id=${agentId}`);
    if (body.data.length > 0) return body.data[0].id;
    await sleep(20);
  }
}
const decide = (id: string, decision: string) => lodge.call('POST', `/v1/confirmations/${id}`, { body: { decision } });

/** A command that nobody decided about while its turn waited. */
async function undecided(branch: string): Promise<string> {
  const left = new AbortController();
  const asking = push(branch, left.signal);
  const id = await pending();
  left.abort();
  await asking;
  return id;
}

const whole = (output: readonly object[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] };
const named = (data: { readonly type: string } & Readonly<Record<string, unknown>>): string =>
  `event: ${data.type}\n${event(data)}`;

test('a chat that streams says by a comment that a call waits, and its chunks are as ever', async () => {
  gateway.answer = async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(event(chunk('one')));
    const { verdict } = await push('a');
    res.end(event(chunk(verdict)) + done);
  };
  const response = await lodge.post({ messages: [{ role: 'user', content: 'x' }], stream: true });
  const id = await pending();
  await decide(id, 'allow');
  const text = (await response.text()).replaceAll(': working\n\n', '');
  const [first, second] = [chunk('one'), chunk('allowed')].map((data) => event({ ...data, model: agentId }));
  assert.equal(text, `${first}: waiting for a confirmation ${id}\n\n${second}${done}`);
});

test('a response that streams has the call as an item of its own, in a place of its own', async () => {
  gateway.answer = async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(named({ type: 'response.created', response: { ...whole([]), status: 'in_progress' } }));
    const { verdict } = await push('b');
    res.write(named({ type: 'response.output_item.added', output_index: 0, item }));
    const content = [{ type: 'output_text', text: verdict }];
    res.end(named({ type: 'response.completed', response: whole([{ ...item, content }]) }) + done);
  };
  const stream = client.responses.stream({ model: agentId, input: 'x', user: 'ada' });
  const places: (readonly [string, number])[] = [];
  let asked: string | null = null;
  for await (const one of stream) {
    if (one.type !== 'response.output_item.added') continue;
    places.push([one.item.type, one.output_index]);
    if (one.item.type !== 'mcp_approval_request') continue;
    asked = one.item.id;
    assert.deepEqual([one.item.name, one.item.server_label], ['git push b', 'lodge']);
    assert.match(one.item.arguments, /"on":"command".*"quoted":"git push b/);
    assert.equal((await decide(asked, 'deny')).status, 200);
  }
  const final = await stream.finalResponse();
  assert.deepEqual(places, [
    ['mcp_approval_request', 0],
    ['message', 1],
  ]);
  assert.deepEqual(
    final.output.map(({ type }) => type),
    ['mcp_approval_request', 'message'],
  );
  assert.equal(final.output_text, 'denied');
});

test('a response that does not stream has the calls that nobody decided about, and a later request decides', async () => {
  gateway.answer = async (res) => {
    const left = new AbortController();
    const asking = push('c', left.signal);
    await pending();
    left.abort();
    await asking;
    answerJson(200, whole([item]))(res);
  };
  const first = await client.responses.create({ model: agentId, input: 'x' });
  const [request] = first.output;
  assert.ok(request?.type === 'mcp_approval_request', JSON.stringify(first.output));
  gateway.answer = answerJson(200, whole([item]));
  await client.responses.create({
    model: agentId,
    previous_response_id: first.id,
    input: [
      request,
      { type: 'mcp_approval_response', approval_request_id: request.id, approve: true },
      { role: 'user', content: 'Go on.' },
    ],
  });
  const [told, more] = gateway.requests.at(-1)!.body.input as { readonly role: string; readonly content: string }[];
  assert.equal(told!.role, 'user');
  assert.match(told!.content, /^\[call outcome .*"status":"done".*exactly the same once more/);
  assert.equal(more!.content, 'Go on.');
  const { body } = await lodge.call('GET', `/v1/confirmations/${request.id}`);
  assert.deepEqual([body.status, body.decision], ['done', 'allow']);
  const [turn, next] = lodge.turns.slice(-2);
  assert.equal(turn!.conversation, next!.conversation);
});

test('where the turn of a decision comes to nothing, one of its own tells the agent, and otherwise none does', async () => {
  const input = (id: string) => [{ type: 'mcp_approval_response' as const, approval_request_id: id, approve: true }];
  const tellings = () =>
    gateway.requests.filter(({ body }) => JSON.stringify(body.messages ?? '').includes('[call outcome'));
  const known = await undecided('e');
  gateway.answer = async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(named({ type: 'response.created', response: { ...whole([]), status: 'in_progress' } }));
    res.end(named({ type: 'response.completed', response: whole([item]) }) + done);
  };
  await client.responses.stream({ model: agentId, input: input(known) }).finalResponse();
  const lost = await undecided('f');
  gateway.answer = answerJson(500, { error: { message: 'x' } });
  await assert.rejects(client.responses.create({ model: agentId, input: input(lost) }));
  gateway.answer = async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(event(chunk('ok')) + done);
  };
  while (tellings().length === 0) await sleep(20);
  const [telling, ...more] = tellings().map(({ body }) => JSON.stringify(body.messages));
  assert.ok(telling!.includes(lost) && more.length === 0, JSON.stringify([telling, more]));
});

test('a decision takes the scope, an open confirmation of the agent, and its fields', async () => {
  const id = await undecided('d');
  const answer = (approval_request_id: string, key = apiKey, more: object = {}) => {
    const given = { type: 'mcp_approval_response' as const, approval_request_id, approve: false, ...more };
    return new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 }).responses.create({
      model: agentId,
      input: [given],
    });
  };
  gateway.answer = answerJson(200, whole([item]));
  await assert.rejects(answer(id, await lodge.key('agents:chat')), { status: 403, code: 'insufficient_scope' });
  await assert.rejects(answer('q3x8n2v7k1ab'), { status: 404, code: 'confirmation_not_found' });
  await assert.rejects(answer(id, apiKey, { approve: 'no' }), { status: 400, message: /input\[0\]\.approve/ });
  const other = await lodge.running();
  const elsewhere = client.responses.create({
    model: other,
    input: [{ type: 'mcp_approval_response', approval_request_id: id, approve: true }],
  });
  await assert.rejects(elsewhere, { status: 404, code: 'confirmation_not_found' });
  assert.equal(gateway.requests.length, 0, 'the agent hears of nothing');
  await answer(id, apiKey, { reason: 'Never.' });
  const [told] = gateway.requests.at(-1)!.body.input as { readonly content: string }[];
  assert.match(told!.content, /"status":"denied".*"reason":"Never\."/);
  await assert.rejects(answer(id), { status: 409, code: 'confirmation_closed' });
});
