/**
 * The cost of usage reports: a year of 1,000 agents with three million model calls and 300,000 changes of status, on the
 * embedded Postgres, over the API. Each report is requested ten times; beside the year's is Postgres's work for it.
 *
 *   node_modules/.bin/node benchmarks/usage.ts [--calls 3000000] [--steps 300000]
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { UsageQuery } from '@lodge/ports';
import { openDatabase } from '../packages/store/src/database/connection.ts';
import { addSums } from '../packages/store/src/usage/usage-sums.ts';
import { reportQuery } from '../packages/store/src/usage/usage-report.ts';
import { openWorld, send } from '../tests/e2e/api/world.ts';
import type { World } from '../tests/e2e/api/world.ts';
import { median, millis, table } from './figures.ts';
import { sumUsage } from '@lodge/store/usage';

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '3000000' }, steps: { type: 'string', default: '300000' } },
});
const [callCount, stepCount] = [Number(values.calls), Number(values.steps)];
const agents = 1000;
/** Calls that are summed as they come. */
const few = 20_000;
const rounds = 10;
const year = { from: new Date('2025-01-01T00:00:00Z'), days: 365 };
const agentId = (n: number): string => `a${String(n).padStart(11, '0')}`;

const silent = { debug() {}, info() {}, warn() {}, error() {} };

const world = await openWorld({ loops: false });
try {
  await fill(world);
  const summing = await sumAll(world);
  await world.sql.query('vacuum analyze');
  await report(world, summing);
} finally {
  await world.close();
}

/**
 * Fills the tables directly, with the indexes made afterwards. Calls are even over the year, a fifth of them by the first
 * ten agents. Steps alternate between running and paused.
 */
async function fill({ sql: client, accountId }: World): Promise<void> {
  const id = `'a' || lpad((case when n % 5 = 0 then n / 5 % 10 else n % ${agents} end)::text, 11, '0')`;
  await client.query(
    `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
       auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at)
     select 'a' || lpad(n::text, 11, '0'), $1, 'n', 'runtime_a', 'm', 'small', 0, 0, 'auto', true, false, true, '{}', now(), now()
     from generate_series(0, ${agents - 1}) n`,
    [accountId],
  );
  // Foreign keys and triggers are off, because their work is not measured.
  await client.query('set session_replication_role = replica');
  const indexes = await withoutIndexes(client);
  const chunk = 250_000;
  for (let begin = 0; begin < callCount; begin += chunk) {
    await client.query(
      `insert into llm_calls (id, agent_id, account_id, provider, model, api, started_at, duration_ms, first_byte_ms, status,
         outcome, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, price_version, summed)
       select gen_random_uuid()::text, ${id}, $1, case when n % 3 = 0 then 'openai' else 'anthropic' end,
         case when n % 3 = 0 then 'gpt-5' when n % 7 = 0 then 'claude-opus-5' else 'claude-sonnet-5' end, 'openai-completions',
         $2::timestamptz + n * (interval '${year.days} days' / ${callCount}), 2000, 400, 200, 'ok',
         n % 20000, n % 700, n % 50000, n % 900, case when n % 50 = 0 then null else (n % 1000) * 0.000013 end, 'list', n >= ${few}
       from generate_series(${begin}, ${Math.min(callCount, begin + chunk) - 1}) n`,
      [accountId, year.from],
    );
  }
  for (let begin = 0; begin < stepCount; begin += chunk) {
    await client.query(
      `insert into compute_steps (agent_id, account_id, at, running, paused, stopped, vcpus, memory_mib, disk_gib, compute_usd, storage_usd,
         summed)
       select 'a' || lpad((n % ${agents})::text, 11, '0'), $1, $2::timestamptz + n * (interval '${year.days} days' / ${stepCount}),
         sign, case when n < ${agents} then 0 else -sign end, 0, 2 * sign, case when n < ${agents} then 4096 else 0 end,
         case when n < ${agents} then 10 else 0 end, 0.03 * sign, case when n < ${agents} then 0.001 else 0 end, true
       from generate_series(${begin}, ${Math.min(stepCount, begin + chunk) - 1}) n,
         lateral (select case when n / ${agents} % 2 = 0 then 1 else -1 end as sign) as s`,
      [accountId, year.from],
    );
  }
  await client.query(
    `insert into compute_rates select agent_id, $1, max(at), sum(running), sum(paused), sum(stopped), sum(vcpus), sum(memory_mib),
       sum(disk_gib), sum(compute_usd), sum(storage_usd) from compute_steps group by agent_id`,
    [accountId],
  );
  for (const definition of indexes) await client.query(definition);
}

/** Removes the indexes and returns their definitions. */
async function withoutIndexes(client: World['sql']): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes where indexname like 'llm\\_calls\\_of\\_%'`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** Measures entries a second, as the rounds sum them up; the others are summed in one statement, which is faster. */
async function sumAll({ store, connectionString, sql: client }: World): Promise<number> {
  await client.query('vacuum analyze');
  const begun = performance.now();
  await sumUsage(store.database);
  const ms = performance.now() - begun;
  await client.query('truncate usage_sums');
  const database = openDatabase({ connectionString }, silent);
  const { sql: text, parameters } = await database.repeatable(async (db) => addSums('usage_entries').compile(db));
  await database.close();
  await client.query(text, [...parameters]);
  return few / (ms / 1000);
}

async function report(to: World, summing: number): Promise<void> {
  const range = 'starting_at=2025-01-01T00:00:00Z&ending_at=2026-01-01T00:00:00Z';
  const asked: readonly (readonly [string, string])[] = [
    ['the year, by day', `/usage?${range}`],
    ['the year, by day and model', `/usage?${range}&group_by=model`],
    ['the year, by day in Kathmandu', `/usage?${range}&time_zone=Asia/Kathmandu`],
    ['the year as one, by agent', `/usage?${range}&bucket_width=all&group_by=agent`],
    [
      'a week, by day and agent',
      '/usage?starting_at=2025-06-02T00:00:00Z&ending_at=2025-06-09T00:00:00Z&group_by=agent',
    ],
    ['a month, by hour', '/usage?starting_at=2025-06-01T00:00:00Z&ending_at=2025-07-01T00:00:00Z&bucket_width=1h'],
    ['a day, by minute', '/usage?starting_at=2025-06-02T00:00:00Z&ending_at=2025-06-03T00:00:00Z&bucket_width=1m'],
    ['the year of one agent, by day', `/agents/${agentId(500)}/usage?${range}`],
    ['the year of a busy agent, by day', `/agents/${agentId(5)}/usage?${range}`],
    ['calls of a busy agent, newest 100', `/agents/${agentId(5)}/llm-calls`],
  ];
  const rows: string[][] = [];
  for (const [what, path] of asked) {
    const times: number[] = [];
    let records = 0;
    for (let round = 0; round < rounds; round += 1) {
      const begun = performance.now();
      const { status, body } = await send(to.url, 'GET', `/v1${path}`, { key: to.key });
      times.push(performance.now() - begun);
      if (status !== 200) throw new Error(`${path}: ${status}`);
      records = body.data.length;
    }
    const [least, most] = [Math.min(...times), Math.max(...times)];
    rows.push([what, String(records), millis(least), millis(median(times)), millis(most)]);
  }
  const [cpu] = cpus();
  console.log(`# usage, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(
    `${cpus().length} cores (${cpu!.model.trim()}), ${agents} agents, ${callCount} model calls and ${stepCount} changes of status in a year. Load average at the end: ${loadavg()[0]!.toFixed(1)}.\n`,
  );
  console.log(table(['report, over HTTP', 'records', 'least ms', 'median ms', 'most ms'], rows));
  console.log(`\nSums were made of ${Math.round(summing)} entries a second.`);
  const { rows: sizes } = await to.sql.query<{ name: string; mib: number }>(
    `select relname as name, pg_total_relation_size(oid) / 1048576 as mib from pg_class
     where relname in ('llm_calls', 'compute_steps', 'usage_sums') order by relname`,
  );
  console.log(`MiB with indexes: ${sizes.map(({ name, mib }) => `${name} ${mib}`).join(', ')}.`);
  console.log(`\nThe year by day:\n\n\`\`\`\n${await explained(to)}\n\`\`\``);
}

async function explained({ connectionString, accountId, sql: client }: World): Promise<string> {
  const database = openDatabase({ connectionString }, silent);
  const bounds = Array.from({ length: year.days + 1 }, (_, day) => new Date(year.from.getTime() + day * 86_400_000));
  const query: UsageQuery = { accountId, bounds, groupBy: null, limit: 10_000 };
  const compiled = await database.repeatable(async (db) => reportQuery(query).compile(db));
  await database.close();
  const explain = `explain (analyze, costs off) ${compiled.sql}`;
  const plan = await client.query<{ 'QUERY PLAN': string }>(explain, [...compiled.parameters]);
  return plan.rows.map((line) => line['QUERY PLAN']).join('\n');
}
