/**
 * The cost of writing and reading an agent's log: a million lines of one agent beside a million of others, on the embedded
 * Postgres. Pages of every kind, both ways, from either end and the middle; each is read ten times, and the median shown.
 *
 *   node_modules/.bin/node benchmarks/logs.ts [--lines 1000000]
 */
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { LogQuery, NewLogEntry } from '@lodge/ports';
import type { Database } from '@lodge/store/database';
import { logPage, logWriter, pruneLogs } from '@lodge/store/logs';
import { openStore } from '@lodge/store';
import { execute, testDatabase } from '@lodge/testkit/postgres';

const { values } = parseArgs({ options: { lines: { type: 'string', default: '1000000' } } });
const lineCount = Number(values.lines);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const agent = 'aaaaaaaaaaaa';
const others = Array.from({ length: 20 }, (_, n) => `bbbbbbbbbb${String(n).padStart(2, '0')}`);
/** Most lines of one agent that a round of the collector writes in the long run. */
const batch = 200;
const rounds = 10;

const database = await testDatabase();
try {
  const store = await openStore({ ...database, log: silent });
  try {
    await fill(await addAgents());
    const written = await measureAppends(store.database);
    await report(written, await measurePages(store.database), await measurePrune(store.database));
  } finally {
    await store.close();
  }
} finally {
  await database.drop();
}

async function addAgents(): Promise<readonly string[]> {
  await execute(database.connectionString, `insert into accounts (id, name, role) values ('a', 'a', 'owner')`);
  for (const id of [agent, ...others]) {
    await execute(
      database.connectionString,
      `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds,
         keep_awake, auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at)
       values ('${id}', 'a', 'a', 'runtime_a', 'p/m', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now())`,
    );
  }
  return [agent, ...others];
}

/** Writes a day of lines straight into the table. The search index is made afterwards, which is faster. */
async function fill(ids: readonly string[]): Promise<void> {
  const [index] = await execute<{ definition: string }>(
    database.connectionString,
    `select indexdef as definition from pg_indexes where indexname = 'agent_logs_search'`,
  );
  await execute(database.connectionString, 'drop index agent_logs_search');
  for (const id of ids) {
    const count = id === agent ? lineCount : Math.ceil(lineCount / others.length);
    await execute(
      database.connectionString,
      `insert into agent_logs
       select '${id}', n, now() - interval '1 day' + n * interval '1 day' / ${count},
         case when n % 100000 = 7 then 3 when n % 100 = 3 then 2 else 1 end, case when n % 3 = 0 then 1 else 2 end,
         '[gateway] request ' || md5('${id}' || n) || ' was handled by worker ' || (n % 17) || ' in ' || (n % 977) || ' ms'
           || case when n < ${count / 2} then ' before noon' else '' end || case when n % 20011 = 5 then ' rareword' else '' end
       from generate_series(1, ${count}) n`,
    );
    await execute(database.connectionString, `insert into agent_log_heads values ('${id}', ${count}, now(), now())`);
  }
  await execute(database.connectionString, index!.definition);
  await execute(database.connectionString, 'vacuum analyze agent_logs');
}

/** Measures microseconds per line of appends in batches, by one writer and by one writer per agent. */
async function measureAppends(of: Database): Promise<{ readonly one: number; readonly many: number }> {
  const lines = (): NewLogEntry[] =>
    Array.from({ length: batch }, () => {
      const message = `[gateway] request ${crypto.randomUUID()} was handled by worker 7 in ${Math.random()} ms`;
      return { level: 'info', source: 'gateway', message };
    });
  const append = async (id: string, batches: number) => {
    for (let n = 0; n < batches; n += 1) await logWriter(of).append(id, lines());
  };
  const begun = performance.now();
  await append(agent, 50);
  const between = performance.now();
  await Promise.all(others.map((id) => append(id, 5)));
  const ended = performance.now();
  return {
    one: ((between - begun) / 50 / batch) * 1_000,
    many: ((ended - between) / 5 / others.length / batch) * 1_000,
  };
}

interface Page {
  readonly what: string;
  readonly rows: number;
  readonly medianMs: number;
  readonly maxMs: number;
}

async function measurePages(of: Database): Promise<readonly Page[]> {
  const middle = BigInt(lineCount / 2);
  const [row] = await execute<{ at: Date; message: string }>(
    database.connectionString,
    `select at, message from agent_logs where agent_id = '${agent}' and id = ${middle}`,
  );
  const { at, message } = row!;
  const oneWord = message.split(' ')[2]!;
  const queries: readonly (readonly [string, Partial<LogQuery>])[] = [
    ['the newest', {}],
    ['the newest, 1,000', { limit: 1_000 }],
    ['the oldest', { direction: 'asc' }],
    ['on from the middle', { direction: 'asc', from: middle }],
    ['back from the middle', { from: middle }],
    ['since noon', { direction: 'asc', since: at }],
    ['until noon', { until: at }],
    ['errors (1 of 100,000)', { minLevel: 'error' }],
    ['warnings and errors, 1,000', { minLevel: 'warn', limit: 1_000 }],
    ['the console, 1,000', { source: 'console', limit: 1_000 }],
    ['a source with nothing', { source: 'egress' }],
    ['search: in every line', { search: 'request' }],
    ['search: in every line, 1,000', { search: 'request', limit: 1_000 }],
    ['search: in the older half', { search: 'before noon' }],
    ['search: in the older half, 1,000', { search: 'before noon', limit: 1_000 }],
    ['search: 1 of 17', { search: 'worker 16' }],
    ['search: 1 of 20,011', { search: 'rareword' }],
    ['search: one line', { search: oneWord }],
    ['search: nowhere', { search: 'absent words' }],
    ['search: in every line, errors', { search: 'request', minLevel: 'error' }],
    ['search: in every line, of a source with nothing', { search: 'request', source: 'egress' }],
    ['search: 1 of 20,011, since noon', { search: 'rareword', since: at, direction: 'asc' }],
    ['search: two characters that are nowhere', { search: 'zq' }],
  ];
  const pages: Page[] = [];
  for (const [what, query] of queries) {
    const times: number[] = [];
    let rows = 0;
    for (let round = 0; round < rounds; round += 1) {
      const begun = performance.now();
      rows = (await of.repeatable((db) => logPage(db, { agentId: agent, limit: 100, direction: 'desc', ...query })))
        .length;
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    pages.push({ what, rows, medianMs: times[rounds / 2]!, maxMs: times.at(-1)! });
  }
  return pages;
}

/** Measures a prune of 10,000 lines in milliseconds, and the slowest append beside it. */
async function measurePrune(of: Database): Promise<{ readonly pruneMs: number; readonly slowestAppendMs: number }> {
  const begun = performance.now();
  const pruned = { ms: 0 };
  const pruning = pruneLogs(of, { maxEntries: lineCount, maxBytes: 2 ** 40, maxAgeMs: 7 * 86_400_000 }).then(() => {
    pruned.ms = performance.now() - begun;
  });
  let slowestAppendMs = 0;
  while (pruned.ms === 0) {
    const start = performance.now();
    await logWriter(of).append(agent, [{ level: 'info', source: 'system', message: 'one line' }]);
    slowestAppendMs = Math.max(slowestAppendMs, performance.now() - start);
  }
  await pruning;
  return { pruneMs: pruned.ms, slowestAppendMs };
}

async function report(
  written: { readonly one: number; readonly many: number },
  pages: readonly Page[],
  pruned: { readonly pruneMs: number; readonly slowestAppendMs: number },
): Promise<void> {
  const sizes = await execute<{ name: string; mib: number }>(
    database.connectionString,
    `select relname as name, pg_relation_size(oid) / 1048576 as mib from pg_class
     where relname like 'agent_logs%' order by relname`,
  );
  const [cpu] = cpus();
  console.log(`# logs, ${new Date().toISOString().slice(0, 10)}\n`);
  console.log(
    `${cpus().length} cores (${cpu!.model.trim()}), ${lineCount} lines of one agent and as many of 20 others. Load average at the end: ${loadavg()[0]!.toFixed(1)}.\n`,
  );
  console.log('| page (100 lines where nothing is said) | lines | median ms | max ms |\n| --- | --- | --- | --- |');
  for (const { what, rows, medianMs, maxMs } of pages) {
    console.log(`| ${what} | ${rows} | ${medianMs.toFixed(1)} | ${maxMs.toFixed(1)} |`);
  }
  console.log(
    `\nAppend, ${batch} lines at a time: ${written.one.toFixed(0)} us a line; 20 agents at once: ${written.many.toFixed(0)} us.`,
  );
  console.log(
    `Prune of ${50 * batch} lines: ${pruned.pruneMs.toFixed(0)} ms; the slowest append beside it: ${pruned.slowestAppendMs.toFixed(0)} ms.`,
  );
  console.log(`\nMiB: ${sizes.map(({ name, mib }) => `${name} ${mib}`).join(', ')}.`);
}
