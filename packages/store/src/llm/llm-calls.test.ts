import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, finishedCall, firstAccount, newAgent, openCall } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store } = await testStore();
const { agents } = store;
const ledger = store.ledgerOf('h');
const accountId = await firstAccount(store.database);

async function newAgentOf() {
  const { id } = await agents.create(newAgent(accountId), admitAll);
  await agents.lease(id, 'h', 60_000);
  return { agentId: id, accountId };
}

const openIds = async () =>
  (await execute<{ id: string }>(database.connectionString, 'select id from llm_calls_open order by id')).map(
    ({ id }) => id,
  );

const rowOf = async (id: string) =>
  (await execute<Record<string, unknown>>(database.connectionString, `select * from llm_calls where id = '${id}'`))[0]!;

test('a call is one row, durable when the promise resolves, and once however often it is recorded', async () => {
  const agent = await newAgentOf();
  await ledger.close(finishedCall(agent, 'c1'));
  await Promise.all([
    ledger.close(finishedCall(agent, 'c1')),
    ledger.close(finishedCall(agent, 'c1', { status: 500 })),
  ]);
  const { started_at: startedAt, ...row } = await rowOf('c1');
  assert.deepEqual(startedAt, new Date(1_700_000_000_123));
  assert.deepEqual(row, {
    id: 'c1',
    agent_id: agent.agentId,
    account_id: accountId,
    provider: 'openai',
    model: 'gpt-5',
    api: 'openai-completions',
    duration_ms: '1235',
    first_byte_ms: '120',
    status: 200,
    outcome: 'ok',
    input_tokens: '12',
    output_tokens: '34',
    cache_read_tokens: '0',
    cache_write_tokens: '0',
    cache_write_long_tokens: null,
    reasoning_tokens: '30',
    image_tokens: null,
    estimated: false,
    cost_usd: '0.01',
    price_version: '1',
    summed: false,
  });
});

test('money is exact: no digit is lost, and sums are those of decimals', async () => {
  const agent = await newAgentOf();
  const costs = ['0.1', '0.2', '12345678901234567890.000000000000000001'];
  for (const [n, costUsd] of costs.entries()) await ledger.close(finishedCall(agent, `m${n}`, { costUsd }));
  for (const [n, costUsd] of costs.entries()) assert.equal((await rowOf(`m${n}`))['cost_usd'], costUsd);
  const [sum] = await execute<{ sum: string }>(
    database.connectionString,
    `select sum(cost_usd)::text as sum from llm_calls where id in ('m0', 'm1')`,
  );
  assert.equal(sum!.sum, '0.3');
});

test('what is not known is null, not nought', async () => {
  const agent = await newAgentOf();
  const unknown = { inputTokens: null, outputTokens: null, cacheReadTokens: null, cacheWriteTokens: null };
  for (const outcome of ['provider_error', 'cancelled', 'unreachable', 'refused'] as const) {
    await ledger.close(finishedCall(agent, outcome, { ...unknown, outcome, status: null, costUsd: null }));
    const row = await rowOf(outcome);
    assert.equal(row['outcome'], outcome);
    for (const column of [
      'status',
      'input_tokens',
      'output_tokens',
      'cache_read_tokens',
      'cache_write_tokens',
      'cost_usd',
    ]) {
      assert.equal(row[column], null, column);
    }
  }
});

test('a call of an agent that is deleted meanwhile is still recorded', async () => {
  const agent = await newAgentOf();
  await agents.markDeleted(accountId, agent.agentId);
  await agents.finishDelete(agent.agentId, 'h');
  await ledger.close(finishedCall(agent, 'late'));
  assert.equal((await rowOf('late'))['agent_id'], agent.agentId);
});

test('a call is open from before it goes out until its row is there, and then no more', async () => {
  const agent = await newAgentOf();
  assert.equal(await ledger.open(openCall(agent, 'o1')), null);
  assert.equal(await ledger.open(openCall(agent, 'o1')), null, 'opened again when the answer was lost');
  assert.deepEqual(await openIds(), ['o1']);
  await ledger.close(finishedCall(agent, 'o1'));
  assert.deepEqual(await openIds(), []);
  assert.equal((await rowOf('o1'))['outcome'], 'ok');
});

test("the calls of a killed process become rows by their estimates, once; its successor's and other hosts' do not", async () => {
  const agent = await newAgentOf();
  const [killed, other] = [store.ledgerOf('h'), store.ledgerOf('h2')];
  await killed.open(openCall(agent, 'k1'));
  await killed.open(openCall(agent, 'k2'));
  await ledger.open(openCall(agent, 'mine'));
  await other.open(openCall(agent, 'theirs'));
  assert.deepEqual(await Promise.all([ledger.sweep(), ledger.sweep()]).then((counts) => counts.toSorted()), [0, 2]);
  assert.deepEqual(await openIds(), ['mine', 'theirs']);
  const row = await rowOf('k1');
  assert.deepEqual(
    [row['outcome'], row['estimated'], row['input_tokens'], row['output_tokens'], row['cost_usd'], row['duration_ms']],
    ['interrupted', true, '20', '1000', '0.5', null],
  );
  // A late write of a process that is not dead after all makes no second row.
  await killed.close(finishedCall(agent, 'k1'));
  assert.equal((await rowOf('k1'))['outcome'], 'interrupted');
  await execute(database.connectionString, "update llm_calls_open set opened_at = now() - interval '2 hours'");
  assert.equal(await ledger.sweep(), 2, 'a host that never came back');
  assert.deepEqual(await openIds(), []);
});

test('calls of an agent are listed newest first, page by page, all fields as written', async () => {
  const agent = await newAgentOf();
  const at = (second: number) => new Date(1_700_000_000_000 + second * 1000);
  for (const [id, second] of [
    ['a', 1],
    ['b', 2],
    ['c', 2],
    ['d', 3],
  ] as const) {
    await ledger.close(finishedCall(agent, `l${id}`, { startedAt: at(second) }));
  }
  const first = await store.usage.calls(agent.agentId, 3, null);
  assert.deepEqual(
    first.map(({ id }) => id),
    ['ld', 'lc', 'lb'],
  );
  assert.deepEqual(
    (await store.usage.calls(agent.agentId, 3, first.at(-1)!)).map(({ id }) => id),
    ['la'],
  );
  const written = finishedCall(agent, 'ld', { startedAt: at(3) });
  assert.deepEqual(first[0], { ...written, durationMs: 1235, timeToFirstByteMs: 120 });
});
