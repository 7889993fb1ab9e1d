/**
 * Model calls' contents from the broker to the API, on a real database: nothing is kept until the account asks for it; then
 * only its own keys read them, they lie sealed in the database, and hold no provider key.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { Agent, fetch } from 'undici';
import { openWorld } from './api/world.ts';
import type { World } from './api/world.ts';
import { Client } from './contract/states.ts';

const key = 'sk-ant-marked-provider-key';
const prompt = 'a marked prompt of plums';
const answer = 'a marked answer of pears';
const address = '127.0.80.1';

let world: World;
let llm: StubLlm;
let client: Client;
let agentId: string;
const dispatcher = new Agent({ localAddress: address });

before(async () => {
  llm = await startStubLlm({ keys: [key] });
  llm.rule((asked) => ({ text: `${answer} ${asked.key}` }));
  const acme = {
    id: 'acme',
    api: 'anthropic-messages',
    base_url: `${llm.anthropicBaseUrl}/v1`,
    private_addresses: true,
    models: [{ name: 'm' }],
  };
  world = await openWorld({ settings: { LODGE_PROVIDERS: JSON.stringify([acme]) } });
  client = new Client(world);
  agentId = await client.agent('running', { model: 'acme/m', llm_keys: [{ provider: 'acme', api_key: key }] });
  await world.sql.query('update agents set vm_address = $1 where id = $2', [address, agentId]);
});
after(async () => {
  await dispatcher.destroy();
  await llm?.close();
  await world?.close();
});

async function record(on: boolean): Promise<void> {
  const { status, body } = await client.call('PATCH', '/account', { record_llm_calls: on });
  assert.deepEqual([status, body.record_llm_calls], [200, on]);
}

/** A call as the agent's runtime makes it; gives its record. */
async function ask(stream: boolean) {
  const response = await fetch(`${world.brokerUrl}/anthropic/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'x-api-key': 'no key' },
    body: JSON.stringify({ model: 'default', max_tokens: 50, stream, messages: [{ role: 'user', content: prompt }] }),
    dispatcher,
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { data } = (await client.call('GET', `/agents/${agentId}/llm-calls?limit=1`)).body;
  const detail = await client.call('GET', `/agents/${agentId}/llm-calls/${data[0].id}`);
  assert.equal(detail.status, 200, detail.text);
  const { content, ...call } = detail.body;
  assert.deepEqual(call, data[0], 'the record of the list');
  return { id: call.id as string, content, text };
}

/** Everything in the database, as text. */
async function dump(): Promise<string> {
  const { rows: tables } = await world.sql.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const texts = [];
  for (const { name } of tables) texts.push((await world.sql.query(`select t::text as row from "${name}" t`)).rows);
  return JSON.stringify(texts);
}

test('nothing is kept until the account wants it, nor once it does not any more', async () => {
  const off = await ask(false);
  assert.equal(off.content, null);
  await record(true);
  const on = await ask(false);
  assert.match(on.content.request, new RegExp(prompt));
  await record(false);
  assert.equal((await ask(true)).content, null);
  assert.equal((await client.call('GET', '/account')).body.record_llm_calls, false);
  const { data } = (await client.call('GET', '/audit-events?limit=2')).body;
  assert.deepEqual(
    data.map(({ action, actor, details }: any) => [action, actor.type, details.record_llm_calls]),
    [
      ['account.updated', 'api_key', false],
      ['account.updated', 'api_key', true],
    ],
  );
  const again = await client.call('GET', `/agents/${agentId}/llm-calls/${on.id}`);
  assert.deepEqual(again.body.content, on.content, 'what was kept before stays for its time');
});

test('a call is read with what was asked and answered, and no key is in it, nor its words in the clear in the database', async () => {
  await record(true);
  for (const stream of [false, true]) {
    const { content, text } = await ask(stream);
    assert.deepEqual(Object.keys(content).toSorted(), ['request', 'response', 'truncated']);
    assert.equal(JSON.parse(content.request).messages[0].content, prompt);
    assert.deepEqual([content.response, content.truncated], [text, false]);
    if (!stream) assert.match(text, /a marked answer of pears \[redacted\]/);
    assert.equal(JSON.stringify(content).includes(key), false);
  }
  const everything = await dump();
  const { rows: sealed } = await world.sql.query<{ sealed: string }>('select sealed from llm_call_contents');
  const encoded = sealed.map((row) => Buffer.from(row.sealed.split('.')[2]!, 'base64url').toString('latin1')).join();
  assert.ok(encoded.length > 1000);
  for (const mark of [key, prompt, answer]) {
    assert.equal(everything.includes(mark), false, mark);
    assert.equal(encoded.includes(mark), false, mark);
  }
});

test('a change of the account names what is wrong with it, and changes nothing', async () => {
  await record(true);
  for (const wrong of [
    {},
    { record_llm_calls: 'no' },
    { record_llm_calls: null },
    { record_llm_calls: false, name: 'x' },
  ]) {
    const { status, body } = await client.call('PATCH', '/account', wrong);
    assert.deepEqual([status, body.error.code], [400, 'invalid_request'], JSON.stringify(wrong));
    assert.match(body.error.message, 'name' in wrong ? /name/ : /record_llm_calls/);
  }
  assert.equal((await client.call('GET', '/account')).body.record_llm_calls, true);
});

test("another account's calls, other agents' and unknown ones are none", async () => {
  await record(true);
  const { id } = await ask(false);
  const other = await client.agent('stopped');
  const stranger = new Client(world, await world.keyOf(await world.newAccount()));
  for (const [who, path, code] of [
    [stranger, `/agents/${agentId}/llm-calls/${id}`, 'agent_not_found'],
    [client, `/agents/${other}/llm-calls/${id}`, 'llm_call_not_found'],
    [client, `/agents/${agentId}/llm-calls/nothing`, 'llm_call_not_found'],
    [client, `/agents/${agentId}/llm-calls/%00`, 'llm_call_not_found'],
    [client, `/agents/nobody/llm-calls/${id}`, 'agent_not_found'],
  ] as const) {
    const { status, body } = await who.call('GET', path);
    assert.deepEqual([status, body.error.code], [404, code], path);
  }
});

test('with the agent goes what it said, and its calls stay', async () => {
  const { id, content } = await ask(false);
  assert.notEqual(content, null);
  assert.equal((await client.call('DELETE', `/agents/${agentId}`)).status, 200);
  const { status, body } = await client.call('GET', `/agents/${agentId}/llm-calls/${id}`);
  assert.deepEqual([status, body.id, body.content], [200, id, null]);
  assert.equal((await world.sql.query('select from llm_call_contents')).rowCount, 0);
});
