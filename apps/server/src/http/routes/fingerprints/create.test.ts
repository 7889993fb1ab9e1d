import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { llmKeyContext } from '@lodge/ports';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';
import { createSecretBox } from '@lodge/access';

const secrets = createSecretBox(randomBytes(32));
const values = [
  { for: 'llm_key', value: 'sk-of-the-owner' },
  { for: 'hook', value: 'sk-of-the-owner' },
  { for: 'llm_key', value: 'another' },
];

test('200: one for each value in their order; the stored key of the same value has the same in its record', async () => {
  const { call, agents, logged } = testApp({ secrets });
  const { status, body, text } = await call('POST', '/v1/fingerprints', { body: { values } });
  assert.equal(status, 200, text);
  assert.deepEqual(
    body.data.map((each: { for: string }) => each.for),
    ['llm_key', 'hook', 'llm_key'],
  );
  const [first, ofHook, other] = body.data.map((each: { fingerprint: string }) => each.fingerprint) as string[];
  assert.equal(new Set([first, ofHook, other]).size, 3);
  const row = agentRow();
  const sealed = secrets.seal('sk-of-the-owner', llmKeyContext(row.id, 'openai'));
  const key = { provider: 'openai', last4: '', createdAt: new Date(0) };
  agents.rows = [{ ...row, llmKeys: [{ ...key, sealed }] }];
  assert.equal((await call('GET', `/v1/agents/${row.id}`)).body.llm_keys[0].fingerprint, first);
  agents.rows = [{ ...row, llmKeys: [{ ...key, sealed: 'damaged' }] }];
  assert.equal((await call('GET', `/v1/agents/${row.id}`)).body.llm_keys[0].fingerprint, null);
  for (const said of [text, ...logged]) assert.ok(!said.includes('sk-of-the-owner'));
});

test('400: names the field, and repeats no value', async () => {
  const { call } = testApp({ secrets });
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
  const { call } = testApp({ secrets });
  const answer = await call('POST', '/v1/fingerprints', { key: 'agents:read', body: { values } });
  assert.deepEqual([answer.status, answer.body.error.code], [403, 'insufficient_scope']);
});
