import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentRow, testApp } from '../../../../../../packages/testkit/src/plane/http/test-app.ts';

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

test('wait_for waits for that status, and answers with the agent as it is then', async () => {
  const { call, agents } = testApp();
  const row = agentRow({ status: 'provisioning' });
  agents.rows = [row];
  const waits: unknown[] = [];
  agents.awaitStatus = async (_account, _id, timeoutMs, _signal, wanted) => {
    waits.push([timeoutMs, wanted]);
    return { ...row, status: 'running' };
  };
  assert.equal((await call('GET', `/v1/agents/${row.id}`)).body.status, 'provisioning');
  assert.equal((await call('GET', `/v1/agents/${row.id}?wait_for=running&timeout=3`)).body.status, 'running');
  await call('GET', `/v1/agents/${row.id}?wait_for=running`);
  await call('GET', `/v1/agents/${row.id}?wait_for=stopped&timeout=1`);
  assert.deepEqual(waits, [
    [3000, 'running'],
    [30_000, 'running'],
    [1000, 'stopped'],
  ]);
  for (const [query, field] of [
    ['wait_for=error', 'wait_for'],
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

test('the record shows the machine beside the size, the change under way, and since when it sleeps', async () => {
  const { call, agents } = testApp();
  const startedAt = new Date('2026-01-31T13:00:00Z');
  const row = agentRow({
    status: 'paused',
    size: 'large',
    machine: { vcpus: 1, memoryMib: 2048, diskGib: 10 },
    pausedAt: startedAt,
    stoppedAt: startedAt,
    operation: { kind: 'stop', cause: 'idle', startedAt },
  });
  agents.rows = [row];
  const { body } = await call('GET', `/v1/agents/${row.id}`);
  const time = '2026-01-31T13:00:00.000Z';
  assert.deepEqual([body.size, body.machine], ['large', { vcpus: 1, memory_mb: 2048, disk_gb: 10 }]);
  assert.deepEqual([body.paused_at, body.stopped_at], [time, time]);
  assert.deepEqual([body.status, body.transition], ['paused', { kind: 'stop', started_at: time }]);
  assert.equal(body.operation, undefined);
});

test('the ETag stands for the record: HEAD has it too, and activity alone leaves it as it is', async () => {
  const { call, agents } = testApp();
  const row = agentRow();
  const etag = async (change: Partial<typeof row>, method: 'GET' | 'HEAD' = 'GET') => {
    agents.rows = [{ ...row, ...change }];
    return (await call(method, `/v1/agents/${row.id}`)).headers['etag'];
  };
  const first = await etag({});
  assert.match(String(first), /^"[\w-]+"$/);
  assert.equal(await etag({}, 'HEAD'), first);
  assert.equal(await etag({ lastActiveAt: new Date() }), first);
  const key = { provider: 'anthropic', last4: 'abcd', createdAt: new Date(0) };
  const changes: Partial<typeof row>[] = [
    { name: 'Other' },
    { status: 'paused' },
    { generation: 2 },
    { metadata: { a: 'b' } },
    { labels: { a: 'b' } },
    { labels: { a: 'c' } },
    { egressVersion: 2 },
    { egressVersion: 2, egressApplied: 2 },
    { models: [] },
    { models: ['p/m'] },
    { llmKeys: [{ ...key, sealed: 'one' }] },
    { llmKeys: [{ ...key, sealed: 'two' }] },
  ];
  const changed: unknown[] = [];
  for (const change of changes) changed.push(await etag(change));
  assert.equal(new Set([first, ...changed]).size, 13);
});
