import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

const prefixes = { runtime_a: 'claw', runtime_b: 'her' };
const waits: unknown[] = [];
const { call, agent, setAgent, sql, close } = await openApp({
  api: (usual) => ({
    ...usual,
    agentUrl: { scheme: 'https', domain: 'agents.example.com', port: null, prefixes },
    agents: {
      ...usual.agents,
      awaitStatus: (account, id, timeoutMs, signal, wanted) => {
        waits.push([timeoutMs, wanted]);
        return usual.agents.awaitStatus(account, id, timeoutMs, signal, wanted);
      },
    },
  }),
});
after(close);

test('the record says why an agent is in its status', async () => {
  const at = new Date('2026-01-31T13:00:00.5Z');
  const reason = { status_reason_code: 'vm_crashed', status_reason_message: 'Twice.', status_reason_at: at };
  const id = await agent({}, { status: 'error', ...reason, last_active_at: at });
  const { status, body } = await call('GET', `/v1/agents/${id}`);
  assert.deepEqual([status, body.status], [200, 'error']);
  assert.deepEqual(body.status_reason, { code: 'vm_crashed', message: 'Twice.', at: '2026-01-31T13:00:00.500Z' });
  assert.equal(body.last_active_at, '2026-01-31T13:00:00.500Z');
});

test('an address has no port where it is the scheme’s own, and the prefix of its runtime', async () => {
  const id = await agent({}, { runtime_kind: 'runtime_b' });
  const { body } = await call('GET', `/v1/agents/${id}`);
  assert.equal(body.url, `https://her-${id}.agents.example.com`);
  assert.equal(body.runtime, null, 'a runtime that this deployment does not offer');
});

test('wait_for waits for that status, and answers with the agent as it is then', async () => {
  const id = await agent();
  assert.equal((await call('GET', `/v1/agents/${id}`)).body.status, 'provisioning');
  assert.equal((await call('GET', `/v1/agents/${id}?wait_for=running&timeout=1`)).body.status, 'provisioning');
  await setAgent(id, { status: 'running' });
  assert.equal((await call('GET', `/v1/agents/${id}?wait_for=running`)).body.status, 'running');
  assert.deepEqual(waits, [
    [1000, 'running'],
    [30_000, 'running'],
  ]);
  for (const [query, field] of [
    ['wait_for=error', 'wait_for'],
    ['wait_for=running&timeout=0', 'timeout'],
    ['wait_for=running&timeout=x', 'timeout'],
    ['timeout=3', 'timeout'],
    ['verbose=1', 'verbose'],
  ] as const) {
    const answer = await call('GET', `/v1/agents/${id}?${query}`);
    assert.equal(answer.status, 400, query);
    assert.ok(answer.body.error.message.startsWith(field), answer.body.error.message);
  }
});

test('the record shows the machine beside the size, the change under way, and since when it sleeps', async () => {
  const at = new Date('2026-01-31T13:00:00Z');
  const machine = { size: 'large', machine_vcpus: 1, machine_memory_mib: 2048, machine_disk_gib: 10 };
  const stop = { operation_kind: 'stop', operation_cause: 'idle', operation_started_at: at };
  const id = await agent({}, { status: 'paused', ...machine, paused_at: at, stopped_at: at, ...stop });
  const { body } = await call('GET', `/v1/agents/${id}`);
  const time = '2026-01-31T13:00:00.000Z';
  assert.deepEqual([body.size, body.machine], ['large', { vcpus: 1, memory_mb: 2048, disk_gb: 10 }]);
  assert.deepEqual([body.paused_at, body.stopped_at], [time, time]);
  assert.deepEqual([body.status, body.transition], ['paused', { kind: 'stop', started_at: time }]);
  assert.equal(body.operation, undefined);
});

test('the ETag stands for the record: HEAD has it too, and activity alone leaves it as it is', async () => {
  const id = await agent({ llm_keys: [{ provider: 'anthropic', api_key: 'sk-one' }] });
  const etag = async (columns: Record<string, unknown> = {}, method: 'GET' | 'HEAD' = 'GET') => {
    await setAgent(id, columns);
    return (await call(method, `/v1/agents/${id}`)).headers['etag'];
  };
  const first = await etag();
  assert.match(String(first), /^"[\w-]+"$/);
  assert.equal(await etag({}, 'HEAD'), first);
  assert.equal(await etag({ last_active_at: new Date() }), first);
  const changes = [
    { name: 'Other' },
    { status: 'paused' },
    { generation: 2 },
    { metadata: { a: 'b' } },
    { labels: { a: 'b' } },
    { labels: { a: 'c' } },
    { egress_version: 2 },
    { egress_applied: 2 },
    { models: [] },
    { models: ['p/m'] },
  ];
  const seen = [first];
  for (const change of changes) seen.push(await etag(change));
  await sql("update llm_keys set sealed = 'another' where agent_id = $1", [id]);
  seen.push(await etag());
  await sql('delete from llm_keys where agent_id = $1', [id]);
  seen.push(await etag());
  assert.equal(new Set(seen).size, 13);
});
