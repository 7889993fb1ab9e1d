/** Inbound hooks over HTTP: what a third party may send, and what a stranger learns. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openWorld, send } from './api/world.ts';
import type { Answer, World } from './api/world.ts';
import { RelayHand } from '../../packages/testkit/src/plane/relay-hand.ts';

let world: World;
let agentId: string;
before(async () => {
  world = await openWorld({ rates: { address: 40 }, bounds: { work: { lookEveryMs: 50 } } });
  const made = await send(world.url, 'POST', '/v1/agents', { key: world.key, body: { name: 'Triager' } });
  assert.equal(made.status, 201, made.text);
  agentId = made.body.id;
});
after(() => world?.close());

const secret = "It's a Secret to Everybody";
const owner = (method: string, path: string, body?: unknown): Promise<Answer> =>
  send(world.url, method, `/v1/agents/${agentId}/hooks${path}`, { key: world.key, body });
const make = async (fields: object = {}) => {
  const { status, body, text } = await owner('POST', '', { name: 'Issues', ...fields });
  assert.equal(status, 201, text);
  return body as { readonly id: string; readonly token: string; readonly url: string };
};
const post = (token: string, body: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(world.url, 'POST', `/v1/hooks/${token}`, { body, headers });
const github = (body: string, headers: Record<string, string> = {}) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  'x-github-event': 'issues',
  ...headers,
});
const messagesOf = async (id: string) => (await owner('GET', `/${id}/messages`)).body.data;

const printOf = async (value: string): Promise<string> =>
  (await send(world.url, 'POST', '/v1/fingerprints', { key: world.key, body: { values: [{ for: 'hook', value }] } }))
    .body.data[0].fingerprint as string;

test('a token is shown once, and a secret never', async () => {
  const made = await owner('POST', '', {
    name: 'Issues',
    template: '{{issue.title}}',
    signature: { type: 'hmac', secret: 'never-shown-again', header: 'X-S' },
  });
  const { token, url, ...record } = made.body;
  assert.equal(url, `${world.origin}/v1/hooks/${token}`);
  assert.deepEqual(record.signature, {
    type: 'hmac',
    header: 'X-S',
    encoding: 'hex',
    prefix: '',
    secret: { set: true, last4: 'gain', fingerprint: await printOf('never-shown-again') },
  });
  const list = await owner('GET', '');
  assert.deepEqual(list.body.data, [record]);
  assert.ok(!list.text.includes(token));
  for (const answer of [list, made]) assert.ok(!answer.text.includes('never-shown-again'));
  assert.equal((await owner('DELETE', `/${record.id}`)).body.deleted, true);
  assert.equal((await post(token, '{}')).status, 404);
});

test('no Idempotency-Key keeps a token, and none makes a second hook', async () => {
  const call = { key: world.key, body: { name: 'Once' }, headers: { 'idempotency-key': 'once' } };
  const [first, again] = [
    await send(world.url, 'POST', `/v1/agents/${agentId}/hooks`, call),
    await send(world.url, 'POST', `/v1/agents/${agentId}/hooks`, call),
  ];
  assert.deepEqual([first.status, again.status], [201, 409]);
  assert.equal(again.body.error.code, 'idempotency_key_reused');
  assert.ok(!again.text.includes(first.body.token));
  const { data } = (await owner('GET', '')).body;
  assert.equal(data.filter(({ name }: { name: string }) => name === 'Once').length, 1);
});

test('what GitHub sends is kept once, answered by a turn, and its ping is nothing', async () => {
  const { id, token } = await make({ signature: { type: 'github', secret } });
  const body = '{"action":"opened",\n "issue":{"title":"It breaks"}}';
  assert.deepEqual((await post(token, '{"zen":"x"}', github('{"zen":"x"}', { 'x-github-event': 'ping' }))).body, {
    object: 'hook_receipt',
    message_id: null,
    repeated: false,
  });
  const headers = github(body, { 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' });
  const first = await post(token, body, headers);
  assert.equal(first.status, 202, first.text);
  const second = await post(token, body, headers);
  assert.deepEqual([second.status, second.body.repeated], [202, true]);
  assert.equal(second.body.message_id, first.body.message_id);
  for (const deadline = Date.now() + 60_000; (await messagesOf(id))[0].state !== 'answered';) {
    assert.ok(Date.now() < deadline, JSON.stringify(await messagesOf(id)));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const [message, ...others] = await messagesOf(id);
  assert.deepEqual([message.id, others.length], [first.body.message_id, 0]);
  const { body: page } = await send(world.url, 'GET', '/v1/events?type=hook.answered', { key: world.key });
  assert.deepEqual(page.data[0].data.message_id, message.id);
  assert.ok(!JSON.stringify(page).includes('It breaks'));
});

test('an answer goes to the conversation that the owner names, and to none by default', async () => {
  const relay = await RelayHand.of(world.store, world.accountId, agentId);
  await relay.write('/help');
  await relay.answer();
  const deliver = { to: 'channel', channel: 'telegram', conversation: 'c1' };
  const { id, token } = await make({ deliver });
  const hooks: readonly { readonly id: string; readonly deliver: object }[] = (await owner('GET', '')).body.data;
  assert.deepEqual(hooks.find((hook) => hook.id === id)?.deliver, deliver);
  assert.ok(hooks.some((hook) => hook.id !== id));
  for (const hook of hooks) if (hook.id !== id) assert.deepEqual(hook.deliver, { to: 'none' });
  assert.equal((await post(token, '{"a":1}')).status, 202);
  assert.equal((await relay.answer()).length, 1);
  assert.equal((await messagesOf(id))[0].state, 'answered');
});

test('any content type will do; what is no JSON, or too much, is not kept', async () => {
  const { id, token } = await make();
  assert.equal((await post(token, '{"a":1}', { 'content-type': 'text/plain' })).status, 202);
  for (const [body, headers, status, code] of [
    ['', {}, 400, 'invalid_json'],
    ['a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 400, 'invalid_json'],
    [`"${'x'.repeat(256 * 1024)}"`, {}, 413, 'request_too_large'],
    ['{}', { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['{}', { 'webhook-id': 'a b' }, 400, 'invalid_request'],
  ] as const) {
    const answer = await post(token, body, headers);
    assert.deepEqual([answer.status, answer.body.error.code], [status, code], answer.text);
    if (status === 413) assert.match(answer.body.error.message, /256 KiB/);
  }
  assert.equal((await messagesOf(id)).length, 1);
});

test('another account finds neither hook nor messages', async () => {
  const { id } = await make();
  const key = await world.keyOf(await world.newAccount());
  for (const [method, path] of [
    ['GET', ''],
    ['GET', `/${id}/messages`],
    ['DELETE', `/${id}`],
  ] as const) {
    const answer = await send(world.url, method, `/v1/agents/${agentId}/hooks${path}`, { key });
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'agent_not_found'], `${method} ${path}`);
  }
});

test('a hook takes 60 requests a minute, which count against no address', async () => {
  const { token } = await make();
  const began = Date.now();
  const answers = await Promise.all(Array.from({ length: 150 }, () => post(token, '{}')));
  const taken = answers.filter(({ status }) => status === 202).length;
  const seconds = (Date.now() - began) / 1000;
  assert.ok(taken >= 60 && taken <= 62 + seconds, `${taken} in ${seconds} s`);
  assert.equal(answers.filter(({ status }) => status === 429).length, 150 - taken);
  assert.equal((await post((await make()).token, '{}')).status, 202);
});

test('no more waits than may for the agents of an account: 429, and nothing is kept', async () => {
  const [{ id }, { token }] = [await make(), await make()];
  const waiting = (count: number, text: string) =>
    world.sql.query(
      `with made as (
         insert into hook_messages (hook_id, agent_id, account_id, text, is_cut)
         select $1, $2, $3, $4, false from generate_series(1, ${count}) returning id, account_id, agent_id
       )
       insert into work (kind, id, account_id, agent_id, lane, due_at)
       select 'message', id, account_id, agent_id, agent_id, now() + interval '30 minutes' from made`,
      [id, agentId, world.accountId, text],
    );
  for (const [count, text] of [
    [5_000, '{}'],
    [1_024, `"${'x'.repeat(64 * 1024 - 2)}"`],
  ] as const) {
    await waiting(count, text);
    const { status, body, headers } = await post(token, '{"a":1}');
    assert.deepEqual([status, body.error.type, body.error.code], [429, 'rate_limit_error', 'rate_limit_exceeded']);
    assert.equal(headers.get('retry-after'), '60');
    assert.match(body.error.message, /may wait for all agents of the hook's account/);
    await world.sql.query('delete from hook_messages where hook_id = $1', [id]);
  }
  assert.equal((await post(token, '{"a":1}')).status, 202);
});

test('a wrong signature changes nothing and costs its address; a made-up token finds nothing', async () => {
  const { id, token } = await make({ signature: { type: 'github', secret } });
  const wrong = await post(token, '{}', { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` });
  assert.deepEqual([wrong.status, wrong.body.error.code], [401, 'invalid_signature'], wrong.text);
  const made = await post(`${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`, '{}');
  assert.deepEqual([made.status, made.body.error.code], [404, 'route_not_found']);
  const elsewhere = await send(world.url, 'POST', '/v1/nowhere', { key: world.key, body: '{}' });
  assert.equal(made.body.error.message, elsewhere.body.error.message);
  let last = wrong;
  // One more is allowed each second.
  for (let n = 0; n < 130 && last.status !== 429; n += 1) last = await post(token, '{}');
  assert.equal(last.status, 429);
  assert.deepEqual(await messagesOf(id), []);
  // A hook without a signature goes on, from the same address.
  assert.equal((await post((await make()).token, '{}')).status, 202);
});
