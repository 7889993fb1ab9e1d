import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultLifecycle, publicEgress } from '@lodge/domain';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

function withAgent(change: Parameters<typeof agentRow>[0] = {}) {
  const lodge = testApp();
  const row = agentRow(change);
  lodge.agents.rows = [row];
  const patch = (body: unknown, headers: Record<string, string> = {}) =>
    lodge.call('PATCH', `/v1/agents/${row.id}`, { body, headers });
  return { ...lodge, row, patch };
}

test('200: only what is given changes, and the record comes back with its ETag', async () => {
  const { patch, agents } = withAgent({ description: 'old' });
  const answer = await patch({ name: '  Ada ' });
  assert.deepEqual([answer.status, answer.body.name, answer.body.description], [200, 'Ada', 'old']);
  assert.match(String(answer.headers['etag']), /^"/);
  assert.equal((await patch({})).status, 200);
  assert.deepEqual(agents.updates, [{ name: 'Ada' }, {}]);
});

test('200: every field reaches the engine as it was given, and no secret comes back', async () => {
  const { patch, agents, logged } = withAgent();
  const answer = await patch({
    name: 'Ada',
    description: 'x',
    model: 'openai/gpt-5',
    llm_keys: [
      { provider: 'openai', api_key: 'sk-secret-1' },
      { provider: 'anthropic', api_key: null },
    ],
    machine_size: 'large',
    lifecycle: { idle_timeout_seconds: 0, auto_start: true, keep_awake: null },
    labels: { team: 'support', old: null },
    metadata: { team: 'support', old: null },
    spend_limit: null,
    egress: { mode: 'allowlist', allow: ['API.example.com'] },
    models: ['openai/gpt-5-mini'],
    peers: ['*'],
    instructions: 'Be kind.',
    dashboard: false,
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(agents.updates, [
    {
      name: 'Ada',
      description: 'x',
      model: 'openai/gpt-5',
      llmKeys: [
        { provider: 'openai', apiKey: 'sk-secret-1' },
        { provider: 'anthropic', apiKey: null },
      ],
      size: 'large',
      lifecycle: { idleTimeoutSeconds: 0, autoStart: true, keepAwake: 'auto' },
      labels: { team: 'support', old: null },
      metadata: { team: 'support', old: null },
      spendLimit: null,
      egress: { mode: 'allowlist', allow: ['api.example.com'] },
      models: ['openai/gpt-5-mini'],
      peers: ['*'],
      instructions: 'Be kind.',
      dashboard: false,
    },
  ]);
  assert.ok(!answer.text.includes('sk-secret') && !logged.join().includes('sk-secret'));
});

test('200: null resets a field to its default', async () => {
  const { patch, agents } = withAgent();
  await patch({ description: null, model: null, size: null, lifecycle: null, metadata: null, llm_keys: null });
  await patch({ labels: null, egress: null, models: null, peers: null });
  assert.deepEqual(agents.updates, [
    { description: null, model: null, size: 'medium', lifecycle: defaultLifecycle, metadata: null, llmKeys: null },
    { labels: null, egress: publicEgress, models: null, peers: [] },
  ]);
});

test('200: egress is replaced as a whole, shows in the record, and has the reply wait for the machine', async () => {
  const { patch, agents } = withAgent({ egress: { mode: 'allowlist', allow: ['a.example'] } });
  const waits: string[] = [];
  agents.inEffect = () => false;
  agents.awaitInEffect = async (account, id) => {
    waits.push(id);
    agents.inEffect = () => true;
    return agents.get(account, id);
  };
  const before = (await patch({ name: 'Ada' })).headers['etag'];
  assert.equal(waits.length, 0);
  const answer = await patch({ egress: { mode: 'none' } });
  assert.deepEqual([answer.body.egress, answer.body.settings_pending], [{ mode: 'none', allow: [] }, false]);
  assert.equal(waits.length, 1);
  assert.notEqual(answer.headers['etag'], before);
  const models = await patch({ models: ['p/m'] });
  assert.deepEqual([models.body.models, models.body.egress.mode, waits.length], [['p/m'], 'none', 1]);
});

test('200: a size that is not in effect yet shows beside the machine as it is', async () => {
  const { patch } = withAgent({ machine: { vcpus: 2, memoryMib: 4096, diskGib: 10 } });
  const { body } = await patch({ size: 'large' });
  assert.deepEqual([body.size, body.machine.memory_mb], ['large', 4096]);
});

test('400: each wrong field is named', async () => {
  const { patch, agents } = withAgent();
  const wrong: [unknown, RegExp][] = [
    [{ name: null }, /^name must be a string/],
    [{ name: '  ' }, /^name must not be blank/],
    [{ name: 'x'.repeat(101) }, /^name must have at most 100/],
    [{ size: 'huge' }, /^size must be one of small, medium, large, xlarge/],
    [{ size: 'small', machine_size: 'large' }, /^size and machine_size/],
    [{ size: null, machine_size: 'large' }, /^size and machine_size/],
    [{ llm_keys: 'none' }, /^llm_keys must be an array or null/],
    [{ llm_keys: [{ provider: 'openai' }] }, /^llm_keys\[0\]\.api_key is required/],
    [{ llm_keys: [{ provider: 'openai', api_key: '' }] }, /^llm_keys\[0\]\.api_key is required and must not be blank/],
    [{ lifecycle: { idle: 1 } }, /^lifecycle\.idle is not a known field/],
    [{ lifecycle: { idle_timeout_seconds: -1 } }, /^lifecycle\.idle_timeout_seconds must be at least 0/],
    [{ metadata: { a: 1 } }, /^metadata\.a must be a string or null/],
    [{ labels: { a: 1 } }, /^labels\.a must be a string or null/],
    [{ labels: { 'A b': 'x' } }, /^labels/],
    [{ runtime_kind: 'runtime_b' }, /^runtime_kind is not a known field/],
    [{ status: 'running' }, /^status is not a known field/],
    [{ spend_limit: { daily_usd: '5' } }, /^spend_limit\.action is required/],
    [{ instructions: 'x'.repeat(32_769) }, /^instructions must have at most 32768/],
    [[], /^The body must be an object/],
  ];
  for (const [body, message] of wrong) {
    const answer = await patch(body);
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request'], JSON.stringify(body));
    assert.match(answer.body.error.message, message);
  }
  assert.deepEqual(agents.updates, []);
});

test('412: nothing is changed when the agent is not the one that If-Match speaks of', async () => {
  const { patch, agents } = withAgent();
  const { headers } = await patch({ name: 'One' });
  const etag = String(headers['etag']);
  const second = await patch({ name: 'Two' }, { 'if-match': `"other", ${etag}` });
  assert.equal(second.status, 200);
  for (const stale of [etag, `W/${String(second.headers['etag'])}`, 'nonsense']) {
    const answer = await patch({ name: 'Three' }, { 'if-match': stale });
    assert.deepEqual([answer.status, answer.body.error.code], [412, 'precondition_failed'], stale);
  }
  assert.equal(agents.rows[0]!.name, 'Two');
  assert.equal((await patch({ name: 'Four' }, { 'if-match': '*' })).status, 200);
});

test('404: no such agent, whatever If-Match says, and after the body was looked at', async () => {
  const { call } = testApp();
  const headers = { 'if-match': '*' };
  for (const id of ['a'.repeat(12), 'none']) {
    const answer = await call('PATCH', `/v1/agents/${id}`, { body: { name: 'x' }, headers });
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'agent_not_found']);
    assert.equal((await call('PATCH', `/v1/agents/${id}`, { body: { nme: 'x' }, headers })).status, 400);
  }
});
