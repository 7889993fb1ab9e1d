import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { UsageFigures, UsageGroup, UsageRecord, UsageReport } from '@lodge/ports';
import { randomFrom } from '@lodge/domain/testing';
import { testDatabase } from '@lodge/testkit/postgres';
import { Client } from 'pg';
import { admitAll, event, finishedCall, firstAccount, newAgent, silent } from '../testing/fixture.ts';
import { pruneCalls, recordReading, setComputePrices, sumUsage } from './index.ts';
import { addUp, makeHistory } from '../testing/usage-history.ts';
import type { History } from '../testing/usage-history.ts';
import { openTestStore } from '../testing/agents-fixture.ts';

const database = await testDatabase();
const store = await openTestStore({ ...database, log: silent });
const sql = new Client(database);
await sql.connect();
after(async () => {
  await sql.end();
  await store.close();
  await database.drop();
});
const accountId = await firstAccount(store.database);
const { usage, agents } = store;
const ledger = store.ledgerOf('h');

const reportOf = async (query: {
  readonly bounds: readonly Date[];
  readonly groupBy?: UsageGroup;
  readonly agentId?: string;
  readonly accountId?: string;
  readonly limit?: number;
}): Promise<UsageReport> => {
  const report = await usage.report({ accountId, groupBy: null, limit: 100_000, ...query });
  assert.notEqual(report, 'too_many');
  return report as UsageReport;
};

async function insert(of: string, { agents: ids, calls, steps, readings }: History): Promise<void> {
  for (const id of ids) {
    await sql.query(
      `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
        auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at)
       values ($1, $2, 'n', 'runtime_a', 'm', 'small', 0, 0, 'auto', true, false, true, '{}', now(), now())`,
      [id, of],
    );
  }
  const rows = async (table: string, all: readonly object[]): Promise<void> => {
    await sql.query(
      `insert into ${table} ${all.length === 0 ? 'select' : `(${Object.keys(all[0]!).join()}) overriding system value select ${Object.keys(all[0]!).join()}`}
      from json_populate_recordset(null::${table}, $1)`,
      [JSON.stringify(all)],
    );
  };
  await rows(
    'llm_calls',
    calls.map((call) => ({ ...call, account_id: of, summed: false, estimated: false })),
  );
  await rows(
    'compute_steps',
    steps.map((step) => ({ ...step, account_id: of, summed: false })),
  );
  await rows(
    'vm_readings',
    readings.map((reading) => ({ ...reading, account_id: of, summed: false })),
  );
  // The rows are as the trigger leaves them when an agent is deleted.
  await sql.query(
    `insert into compute_rates select agent_id, account_id, max(at), 0, 0, 0, 0, 0, 0, 0, 0 from compute_steps
     where account_id = $1 group by 1, 2 on conflict do nothing`,
    [of],
  );
}

const minuteMs = 60_000;
/** Buckets of every width, on and off the edges of quarters and days. */
const widths = [minuteMs, 15 * minuteMs, 60 * minuteMs, 24 * 60 * minuteMs, 90 * minuteMs];

test('any history, buckets and grouping: a report adds up the rows, however many are in the sums or deleted', async (t) => {
  let compared = 0;
  for (let seed = 1; seed <= 12; seed += 1) {
    const pick = randomFrom(seed);
    const { rows } = await sql.query<{ id: string }>("insert into accounts (name) values ('n') returning id");
    const of = rows[0]!.id;
    const history = makeHistory(pick);
    await insert(of, history);
    for (let round = 0; round < 6; round += 1) {
      // The sums contain none, some or all of the rows.
      if (round % 2 === 1) await sumUsage(store.database);
      if (round % 2 === 0 && round > 0) await addLate(of, history, pick);
      // From here on rows are deleted, and their figures are by the quarter hour.
      const isPruned = round > 2;
      if (isPruned) await pruneCalls(store.database, { maxCalls: pick(40), maxAgeMs: 1e12 });
      const widthMs = widths[isPruned ? 1 + pick(widths.length - 1) : pick(widths.length)]!;
      const first = history.from + pick(history.to - history.from);
      const offset = [0, 330 * minuteMs, -45 * minuteMs, 7_777][pick(isPruned ? 3 : 4)]!;
      const start = Math.floor(first / widthMs) * widthMs + offset;
      const bounds =
        pick(5) === 0
          ? [new Date(Date.UTC(2026, pick(3), 1 + pick(31))), new Date(Date.UTC(2026, 3 + pick(3), 1 + pick(31)))]
          : Array.from({ length: 2 + pick(40) }, (_, i) => new Date(start + i * widthMs));
      const groupBy = ([null, 'agent', 'model', 'provider'] as const)[pick(4)]!;
      const agentId = pick(3) === 0 ? history.agents[pick(history.agents.length)] : undefined;
      const query = { bounds, ...(groupBy && { groupBy }), ...(agentId !== undefined && { agentId }) };
      const report = await reportOf({ accountId: of, ...query });
      const wanted = addUp(history, { bounds, groupBy, agentId: agentId ?? null });
      const seen = JSON.stringify({ seed, round, widthMs, offset, groupBy, agentId });
      assert.deepEqual(report.totals, wanted.totals, seen);
      assert.deepEqual(report.records.map(comparable), wanted.records.map(comparable), seen);
      compared += report.records.length;
    }
  }
  const { rows } = await sql.query<{ n: number }>(
    `select max(n)::int as n from (select count(*) as n from llm_calls where summed group by agent_id) each`,
  );
  assert.ok(rows[0]!.n <= 40, 'rows are bounded by agent');
  t.diagnostic(`${compared} records compared`);
});

const comparable = (record: UsageRecord) => ({ ...record });

/** Adds rows of past moments, because calls end in another order than they began. */
async function addLate(of: string, history: History, pick: (n: number) => number): Promise<void> {
  const { calls } = makeHistory(pick, history.agents);
  await insert(of, { ...history, agents: [], steps: [], readings: [], calls });
  history.calls.push(...calls);
}

const nought: Partial<UsageFigures> = { requests: 0, llmUsd: '0', runningSeconds: 0, totalUsd: '0' };

test('what an agent takes up is counted from the changes of its row, up to now, at the price of the moment', async () => {
  const prices = { running: '3.6', paused: '0.36', storage: '0' };
  const free = { running: '0', paused: '0', storage: '0' };
  const all = { small: free, medium: prices, large: free, xlarge: free };
  await setComputePrices(store.database, all);
  const { id, generation } = await agents.create(newAgent(accountId), admitAll);
  await agents.lease(id, 'h', 60_000);
  const day = [new Date(Date.now() - 86_400_000), new Date(Date.now() + 86_400_000)];
  assert.equal(
    (await reportOf({ bounds: day, agentId: id })).totals.stoppedSeconds,
    0,
    'nothing before its first machine',
  );
  const machine = { vcpus: 2, memoryMib: 4096, diskGib: 10 };
  const spans = { running: 0, paused: 0, stopped: 0 };
  const during = async (status: 'running' | 'paused' | 'stopped', given = {}): Promise<void> => {
    await agents.observe(id, generation, 'h', { event, status, ...given });
    spans[status] += 0.2;
    await new Promise((resolve) => setTimeout(resolve, 200));
  };
  await during('running', { machine });
  await during('paused');
  await sumUsage(store.database);
  await during('running');
  await during('stopped');
  await agents.markDeleted(accountId, id);
  await agents.finishDelete(id, 'h');
  const { totals } = await reportOf({ bounds: day, agentId: id });
  const near = (value: number, wanted: number): void =>
    assert.ok(value >= wanted && value < wanted + 1.5, `${value} for ${wanted}`);
  near(totals.runningSeconds, 0.4);
  near(totals.pausedSeconds, 0.2);
  near(totals.stoppedSeconds, 0.2);
  assert.equal(totals.vcpuSeconds, Number((totals.runningSeconds * 2).toFixed(3)));
  const held = totals.runningSeconds + totals.pausedSeconds;
  assert.equal(totals.memoryGbSeconds, Number((held * 4).toFixed(3)));
  assert.equal(totals.storageGbSeconds, Number(((held + totals.stoppedSeconds) * 10).toFixed(3)));
  const cost = totals.runningSeconds * 0.001 + totals.pausedSeconds * 0.0001;
  assert.equal(Number(totals.computeUsd).toFixed(9), cost.toFixed(9));
  await setComputePrices(store.database, { ...all, medium: { ...prices, running: '7200' } });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(
    (await reportOf({ bounds: day, agentId: id })).totals,
    totals,
    'a deleted agent takes up no more; its past and price stay',
  );
});

test('a new price holds from now on, for agents that run already', async () => {
  const price = (running: string) => ({ running, paused: '0', storage: '0' });
  const all = (running: string) => ({
    small: price('0'),
    medium: price(running),
    large: price('0'),
    xlarge: price('0'),
  });
  await setComputePrices(store.database, all('0'));
  const { id, generation } = await agents.create(newAgent(accountId), admitAll);
  await agents.lease(id, 'h', 60_000);
  await agents.observe(id, generation, 'h', {
    event,
    status: 'running',
    machine: { vcpus: 1, memoryMib: 1024, diskGib: 1 },
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const bounds = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
  assert.equal((await reportOf({ bounds, agentId: id })).totals.computeUsd, '0');
  await setComputePrices(store.database, all('3600'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { totals } = await reportOf({ bounds, agentId: id });
  const cost = Number(totals.computeUsd);
  assert.ok(cost >= 0.1 && cost <= totals.runningSeconds - 0.1, `${cost} of ${totals.runningSeconds}`);
});

test('counters of a VM add up over executions, whatever is read twice, late or not at all', async () => {
  const { id, generation } = await agents.create(newAgent(accountId), admitAll);
  await agents.lease(id, 'h', 60_000);
  const read = async (executionId: string, cpuSeconds: number, egressBytes: number): Promise<void> =>
    store.database.transaction((trx) => recordReading(trx, { agentId: id, executionId, cpuSeconds, egressBytes }));
  const bounds = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
  const totals = async () => {
    const found = (await reportOf({ bounds, agentId: id })).totals;
    return [found.cpuSeconds, found.egressBytes];
  };
  await read('e1', 5, 5);
  assert.deepEqual(await totals(), [0, 0], 'an execution that the row does not name');
  await agents.observe(id, generation, 'h', { executionId: 'e1' });
  await Promise.all([read('e1', 10, 100), read('e1', 10, 100)]);
  assert.deepEqual(await totals(), [10, 100]);
  await read('e1', 9, 90);
  await read('e1', 10.4, 100);
  assert.deepEqual(await totals(), [10, 100], 'less than a second of CPU waits');
  await read('e1', 12.5, 150);
  assert.deepEqual(await totals(), [12.5, 150]);
  await agents.observe(id, generation, 'h', { executionId: 'e2' });
  await read('e1', 20, 900);
  await read('e2', 3, 30);
  assert.deepEqual(await totals(), [15.5, 180]);
});

test('a call whose model has no price is unpriced and not free; one that was refused is no call', async () => {
  const { id } = await agents.create(newAgent(accountId), admitAll);
  const agent = { agentId: id, accountId };
  await ledger.close(finishedCall(agent, 'p1', { costUsd: '0.000001' }));
  await ledger.close(finishedCall(agent, 'p2', { costUsd: null, priceVersion: null }));
  await ledger.close(
    finishedCall(agent, 'p3', { costUsd: null, inputTokens: null, outputTokens: null, outcome: 'unreachable' }),
  );
  await ledger.close(
    finishedCall(agent, 'p4', { costUsd: null, inputTokens: null, outputTokens: null, outcome: 'refused' }),
  );
  const at = finishedCall(agent, 'x').startedAt.getTime();
  const { totals } = await reportOf({ bounds: [new Date(at), new Date(at + 1)], agentId: id });
  const { requests, unpricedRequests, inputTokens, llmUsd, totalUsd } = totals;
  assert.deepEqual([requests, unpricedRequests, inputTokens, llmUsd, totalUsd], [3, 1, 24, '0.000001', '0.000001']);
});

test('without groups every bucket is told; more records than wanted are not made', async () => {
  const bounds = Array.from({ length: 11 }, (_, i) => new Date(1_600_000_000_000 + i * 60_000));
  const { records } = await reportOf({ bounds });
  assert.equal(records.length, 10);
  for (const [name, value] of Object.entries(nought)) assert.equal(records[3]![name as keyof UsageFigures], value);
  assert.deepEqual((await reportOf({ bounds, groupBy: 'agent' })).records, []);
  assert.equal(await usage.report({ accountId, bounds, groupBy: null, limit: 9 }), 'too_many');
});
