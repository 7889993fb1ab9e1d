import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { builtinProviders } from '@lodge/broker';
import { admitAll, event, newAgent } from '../../../../packages/store/src/testing/fixture.ts';
import { openApp } from '../../../../packages/testkit/src/plane/http/open-app.ts';
import { listenForScrapes } from './listener.ts';
import { createMetrics } from './metrics.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const counted = createMetrics('1.2.3');
const { call, store, accountId, close } = await openApp({ api: (usual) => ({ ...usual, metrics: counted.http }) });
after(close);

const create = (agents: typeof store.agents) => agents.create(newAgent(accountId), admitAll);

test('creates and operations are counted by kind, cause and outcome, wherever they were begun', async () => {
  const metrics = createMetrics('1.2.3');
  store.onOperationEnded(metrics.operationEnded);
  metrics.observe({
    database: store.database,
    templates: () => [],
    sizes: store.sizes,
  });
  const { agents } = store;
  const { id, generation } = await create(agents);
  await agents.lease(id, 'here', 60_000);
  await agents.observe(id, generation, 'here', { event, status: 'running', acknowledged: true });

  const pause = await agents.begin(id, 'idle', () => ({ do: 'begin', kind: 'pause' }));
  await agents.begin(id, 'request', () => ({ do: 'join' }));
  assert.equal(await agents.observe(id, generation, 'here', { event, status: 'running', operation: null }), false);
  await agents.observe(id, pause!.row.generation, 'here', { event, status: 'paused', operation: null });

  // Begun by another process: known from its row.
  const stop = await store.agents.begin(id, 'memory', () => ({ do: 'begin', kind: 'stop' }));
  await agents.find(id);
  await agents.observe(id, stop!.row.generation, 'here', { event, status: 'running', operation: null });

  const text = await metrics.text();
  const counts = [...text.matchAll(/^lodge_operation_duration_seconds_count\{(.*)\} (\d+)$/gm)].map(([, labels, n]) => [
    labels,
    n,
  ]);
  assert.deepEqual(counts, [
    ['kind="create",cause="request",outcome="ok"', '1'],
    ['kind="pause",cause="idle",outcome="ok"', '1'],
    ['kind="stop",cause="memory",outcome="failed"', '1'],
  ]);
  assert.ok(!text.includes(id), 'no agent is named');
});

test('LLM calls are counted once they are recorded; a provider that nobody configured is no label', async () => {
  const metrics = createMetrics('1.2.3');
  const { id } = await create(store.agents);
  const ledger = metrics.watchCalls(store.ledgerOf('here'), builtinProviders);
  const call = {
    agentId: id,
    accountId,
    model: 'm',
    api: 'anthropic-messages',
    startedAt: new Date(),
    durationMs: 120,
    timeToFirstByteMs: 20,
    status: 200,
    outcome: 'ok',
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: 0,
    cacheWriteTokens: null,
    cacheWriteLongTokens: null,
    reasoningTokens: null,
    imageTokens: null,
    estimated: false,
    costUsd: null,
    priceVersion: null,
  } as const;
  await ledger.close({ ...call, id: '00000000-0000-4000-8000-000000000001', provider: 'anthropic' });
  await ledger.close({ ...call, id: '00000000-0000-4000-8000-000000000002', provider: 'made-up', outcome: 'refused' });
  const text = await metrics.text();
  assert.match(text, /^lodge_llm_call_duration_seconds_count\{provider="anthropic",outcome="ok"\} 1$/m);
  assert.match(text, /^lodge_llm_call_duration_seconds_count\{provider="unknown",outcome="refused"\} 1$/m);
  assert.match(text, /^lodge_llm_tokens_total\{provider="anthropic",type="output"\} 5$/m);
  assert.doesNotMatch(text, /made-up|cache_write/);
});

test('GET /metrics serves them with agents, templates, requests and the process, on a listener of their own', async () => {
  const metrics = counted;
  const templates = [{ runtime: 'openclaw', state: 'building', step: 's', fraction: null, since: new Date() }] as const;
  metrics.observe({
    database: store.database,
    templates: () => templates,
    sizes: store.sizes,
  });
  await call('GET', `/v1/agents/${'a'.repeat(12)}`);
  await call('GET', '/nowhere');
  const listener = await listenForScrapes(metrics, { host: '127.0.0.1', port: 0 }, log);
  try {
    const url = `http://127.0.0.1:${listener.port}`;
    const response = await fetch(`${url}/metrics`);
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, metrics.contentType]);
    const text = await response.text();
    for (const wanted of [
      /^lodge_agents\{status="paused"\} \d+$/m,
      /^lodge_template_state\{runtime="openclaw",state="building"\} 1$/m,
      /^lodge_stored_bytes\{kind="database"\} [1-9]\d{6,}$/m,
      /^lodge_stored_bytes\{kind="replies"\} 0$/m,
      /^lodge_http_request_duration_seconds_count\{method="GET",route="\/v1\/agents\/:id",status="404"\} 1$/m,
      /^lodge_http_request_duration_seconds_count\{method="any",route="none",status="404"\} 1$/m,
      /^lodge_chats_in_flight 0$/m,
      /^lodge_info\{version="1\.2\.3"\} 1$/m,
      /^nodejs_eventloop_lag_p99_seconds /m,
      /^process_resident_memory_bytes /m,
    ]) {
      assert.match(text, wanted);
    }
    assert.doesNotMatch(text, /a{12}/);
    assert.equal((await fetch(`${url}/v1/agents`)).status, 404);
    assert.equal((await fetch(`${url}/metrics`, { method: 'POST' })).status, 405);
  } finally {
    await listener.close();
  }
  assert.equal((await call('GET', '/metrics')).status, 404, 'not on the port of the API');
});
