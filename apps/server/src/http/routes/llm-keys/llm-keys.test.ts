/** LLM keys as requests: their check, and the fingerprint of a value. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const { call, agent, sql, logged, close } = await openApp();
after(close);

const values = [
  { for: 'llm_key', value: 'sk-of-the-owner' },
  { for: 'hook', value: 'sk-of-the-owner' },
  { for: 'llm_key', value: 'another' },
];

test('200: one for each value in their order; the stored key of the same value has the same in its record', async () => {
  const { status, body, text } = await call('POST', '/v1/fingerprints', { body: { values } });
  assert.equal(status, 200, text);
  assert.deepEqual(
    body.data.map((each: { for: string }) => each.for),
    ['llm_key', 'hook', 'llm_key'],
  );
  const [first, ofHook, other] = body.data.map((each: { fingerprint: string }) => each.fingerprint) as string[];
  assert.equal(new Set([first, ofHook, other]).size, 3);
  const id = await agent({ llm_keys: [{ provider: 'openai', api_key: 'sk-of-the-owner' }] });
  const fingerprint = async () => (await call('GET', `/v1/agents/${id}`)).body.llm_keys[0].fingerprint;
  assert.equal(await fingerprint(), first);
  await sql("update llm_keys set sealed = 'damaged' where agent_id = $1", [id]);
  assert.equal(await fingerprint(), null);
  for (const said of [text, ...logged]) assert.ok(!said.includes('sk-of-the-owner'));
});

test('400: names the field, and repeats no value', async () => {
  const one = values[0]!;
  const wrong: [unknown, RegExp][] = [
    [{}, /^values is required/],
    [{ values: [] }, /^values is required and must not be empty/],
    [{ values: Array.from({ length: 101 }, () => one) }, /^values must .*100/],
    [{ values: [one, { ...one, for: 'password' }] }, /^values\[1\]\.for must be one of/],
    [{ values: [{ ...one, value: '' }] }, /^values\[0\]\.value/],
    [{ values: [{ ...one, value: 'never-told-'.repeat(400) }] }, /^values\[0\]\.value must have at most 4096/],
    [{ values: [{ for: 'hook' }] }, /^values\[0\]\.value is required/],
    [{ values: ['never-told-'] }, /^values\[0\] must be an object/],
  ];
  for (const [body, message] of wrong) {
    const answer = await call('POST', '/v1/fingerprints', { body });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.error.message, message);
    assert.ok(!answer.text.includes('never-told-'));
  }
});

test('403: reading agents is not enough', async () => {
  const answer = await call('POST', '/v1/fingerprints', { key: 'agents:read', body: { values } });
  assert.deepEqual([answer.status, answer.body.error.code], [403, 'insufficient_scope']);
});

test('200 says of each key whether it works, without the key; 404 for an agent that is not there, 400 for a body', async () => {
  const keys = ['openai', 'anthropic'].map((provider) => ({ provider, api_key: 'sk-of-the-owner' }));
  const path = `/v1/agents/${await agent({ llm_keys: keys })}/llm_keys/check`;
  const { status, body, text } = await call('POST', path);
  assert.equal(status, 200, text);
  assert.deepEqual(
    body.data.map(({ object, provider, works }: any) => [object, provider, works]),
    [
      ['llm_key_check', 'anthropic', null],
      ['llm_key_check', 'openai', null],
    ],
    'no provider can be reached from here',
  );
  assert.ok(!text.includes('sk-of-the-owner'));
  assert.equal((await call('POST', `/v1/agents/${'b'.repeat(12)}/llm_keys/check`)).status, 404);
  const wrong = await call('POST', path, { body: { key: 'x' } });
  assert.deepEqual([wrong.status, wrong.body.error.code], [400, 'invalid_request']);
});
