import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentRow, testApp } from '../../test-app.ts';

test('the record says why an agent is in its status', async () => {
  const { call, agents } = testApp();
  const at = new Date('2026-01-31T13:00:00.5Z');
  const row = agentRow({
    status: 'error',
    statusReason: { code: 'vm_crashed', message: 'Twice.', at },
    lastActiveAt: at,
  });
  agents.rows = [row];
  const { status, body } = await call('GET', `/v1/agents/${row.id}`);
  assert.deepEqual([status, body.status], [200, 'error']);
  assert.deepEqual(body.status_reason, { code: 'vm_crashed', message: 'Twice.', at: '2026-01-31T13:00:00.500Z' });
  assert.equal(body.last_active_at, '2026-01-31T13:00:00.500Z');
});

test('an address has no port where it is the scheme’s own, and the prefix of its runtime', async () => {
  const prefixes = { runtime_a: 'claw', runtime_b: 'her' };
  const { call, agents } = testApp({
    agentUrl: { scheme: 'https', domain: 'agents.example.com', port: null, prefixes },
  });
  const row = agentRow({ runtimeKind: 'runtime_b' });
  agents.rows = [row];
  const { body } = await call('GET', `/v1/agents/${row.id}`);
  assert.equal(body.url, `https://her-${row.id}.agents.example.com`);
  assert.equal(body.runtime, null, 'a runtime that this deployment does not offer');
});

test('wait_for=running waits, and answers with the agent as it is then', async () => {
  const { call, agents } = testApp();
  const row = agentRow({ status: 'provisioning' });
  agents.rows = [row];
  const waits: unknown[] = [];
  agents.awaitSettled = async (_account: string, _id: string, timeoutMs?: number) => {
    waits.push(timeoutMs);
    return { ...row, status: 'running' };
  };
  assert.equal((await call('GET', `/v1/agents/${row.id}`)).body.status, 'provisioning');
  assert.equal((await call('GET', `/v1/agents/${row.id}?wait_for=running&timeout=3`)).body.status, 'running');
  await call('GET', `/v1/agents/${row.id}?wait_for=running`);
  assert.deepEqual(waits, [3000, 30_000]);
  for (const [query, field] of [
    ['wait_for=paused', 'wait_for'],
    ['wait_for=running&timeout=0', 'timeout'],
    ['wait_for=running&timeout=x', 'timeout'],
    ['timeout=3', 'timeout'],
    ['verbose=1', 'verbose'],
  ] as const) {
    const answer = await call('GET', `/v1/agents/${row.id}?${query}`);
    assert.equal(answer.status, 400, query);
    assert.ok(answer.body.error.message.startsWith(field), answer.body.error.message);
  }
});
