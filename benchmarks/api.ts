/**
 * CPU of the server per request, against raw node:http that sends the same JSON: GET of an agent, a list of 100, 401, 429,
 * with 10,000 agents in the table; and 2,000 followers of logs and of events. Server and database are separate processes.
 * The clock is the server's own CPU time, of all its threads, by the scheduler. Each figure is the median of rounds in which
 * all kinds take turns, so other work on the machine affects all of them. A first round is not counted.
 * Prints a table; benchmarks/results has one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openWorld } from '../tests/e2e/api/world.ts';
import { appendAgentEvent } from '@lodge/store/events';

const requests = Number(process.argv[2] ?? 4000);
const rounds = 11;
const connections = 16;
const agents = 10_000;
const followers = 2_000;

interface Child {
  readonly url: string;
  readonly pid: number;
  kill(): void;
}

async function start(entry: string, env: Record<string, string>): Promise<Child> {
  const child = spawn(process.execPath, [entry], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  child.on('exit', (code) => {
    if (code !== null) process.exit(1);
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { url: String(line), pid: child.pid!, kill: () => child.kill('SIGKILL') };
}

/** Returns the CPU time of a process in ms. The first field of schedstat is in nanoseconds. */
function cpuMs(pid: number): number {
  const ofThread = (thread: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ofThread(thread), 0) / 1e6;
}

const pool = new Agent({ keepAlive: true, maxSockets: connections });
function ask(url: string, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent: pool, headers: { 'x-api-key': key } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
    }).on('error', reject);
  });
}

/** Measures server CPU per request in µs, and requests a second. */
async function measure({ pid }: Child, url: string, key: string, wanted: number) {
  const run = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 1) {
      const status = await ask(url, key);
      if (status !== wanted) throw new Error(`${url}: ${status}`);
    }
  };
  const all = (count: number) => Promise.all(Array.from({ length: connections }, () => run(count / connections)));
  // This also uses up what a limit has admitted since the last round.
  await ask(url, key);
  const cpu = cpuMs(pid);
  const started = performance.now();
  await all(requests);
  const seconds = (performance.now() - started) / 1000;
  return { us: ((cpuMs(pid) - cpu) * 1000) / requests, perSecond: requests / seconds };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const world = await openWorld({ loops: false });
const name = 'x'.repeat(20);
await world.sql.query(
  `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
   auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, status)
   select 'b' || lpad(n::text, 11, '0'), $1, $2, 'runtime_a', 'anthropic/claude-sonnet-5', 'small', 0, 0, 'auto', true, false, true, '{}',
   now() + n * interval '1 ms', now(), 'stopped' from generate_series(1, $3::int) n`,
  [world.accountId, name, agents],
);
await world.sql.query('analyze agents');
const entry = fileURLToPath(new URL('../tests/e2e/api/server-process.ts', import.meta.url));
const { connectionString } = world;
const serve = (rates: object) =>
  start(entry, { API_SERVER: JSON.stringify({ connectionString, rates, loops: false }) });
const lodge = await serve({});
const tight = await serve({ reads: 1 });
const agent = '/v1/agents/b00000005000';
const fetched = async (path: string) =>
  (await fetch(`${world.url}${path}`, { headers: { 'x-api-key': world.key } })).text();
const rawEntry = fileURLToPath(new URL('api-raw.ts', import.meta.url));
const one = { RAW_ONE: await fetched(agent) };
const raw = await start(rawEntry, one);
const rawAgent = agent.split('/').at(-1)!;
const queried = { ...one, RAW_DATABASE: connectionString, RAW_AGENT: rawAgent };
const rawQuery = await start(rawEntry, { ...queried, RAW_BY: 'pg' });
const rawStore = await start(rawEntry, { ...queried, RAW_BY: 'store' });

const kinds: readonly (readonly [string, Child, string, string, number])[] = [
  ['raw node:http, the same agent', raw, '/', 'x', 200],
  ['raw node:http, and the indexed query by pg', rawQuery, '/', 'x', 200],
  ['raw node:http, and the same by the store', rawStore, '/', 'x', 200],
  ['GET /v1/agents/:id', lodge, agent, world.key, 200],
  ['GET /v1/agents?limit=100', lodge, '/v1/agents?limit=100', world.key, 200],
  ['401, malformed key', lodge, '/v1/agents', 'lodge_live_no', 401],
  ['429', tight, '/v1/sizes', world.key, 429],
];
const measured = kinds.map((): { us: number; perSecond: number }[] => []);
for (let round = 0; round <= rounds; round += 1) {
  for (const [index, [, child, path, key, wanted]] of kinds.entries()) {
    const figures = await measure(child, `${child.url}${path}`, key, wanted);
    if (round > 0) measured[index]!.push(figures);
  }
}

console.log('| request | server CPU, µs | requests/s |\n| --- | --- | --- |');
for (const [index, [what]] of kinds.entries()) {
  const of = (figure: 'us' | 'perSecond'): string => median(measured[index]!.map((each) => each[figure])).toFixed(0);
  console.log(`| ${what} | ${of('us')} | ${of('perSecond')} |`);
}

const rssMib = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${lodge.pid}/status`, 'utf8'))![1]) / 1024;
const wide = new Agent({ keepAlive: false });
// An account may have 50 followers at once.
const accounts = await Promise.all(
  Array.from({ length: followers / 50 }, async (_, i) => {
    const account = await world.newAccount();
    const id = `b0000000${String(i + 1).padStart(4, '0')}`;
    await world.sql.query('update agents set account_id = $1 where id = $2', [account, id]);
    return { id, key: await world.keyOf(account) };
  }),
);

/** Measures the server's cost of followers of one kind: to open them, while nothing happens, and when each gets an event. */
async function follow(path: (id: string) => string, marks: RegExp): Promise<string[]> {
  const before = cpuMs(lodge.pid);
  const rssBefore = rssMib();
  let heard = 0;
  const streams = Array.from(
    { length: followers },
    (_, i) =>
      new Promise<() => void>((resolve, reject) => {
        const { id, key } = accounts[i % accounts.length]!;
        const request = get(`${lodge.url}${path(id)}`, { agent: wide, headers: { 'x-api-key': key } }, (response) => {
          if (response.statusCode !== 200) reject(new Error(`${path(id)}: ${response.statusCode}`));
          response.on('data', (piece: Buffer) => (heard += String(piece).match(marks)?.length ?? 0));
          response.on('error', () => undefined);
          resolve(() => request.destroy());
        });
        request.on('error', reject);
      }),
  );
  const closers = await Promise.all(streams);
  const opened = cpuMs(lodge.pid) - before;
  const idleFrom = cpuMs(lodge.pid);
  await sleep(10_000);
  const idle = (cpuMs(lodge.pid) - idleFrom) / 100;
  const memory = rssMib() - rssBefore;
  heard = 0;
  const notifiedFrom = cpuMs(lodge.pid);
  for (const { id } of accounts) {
    await world.store.database.transaction((trx) =>
      appendAgentEvent(trx, id, { type: 'agent.resumed', data: { cause: 'message', duration_ms: 40 } }),
    );
  }
  await sleep(5_000);
  const notified = cpuMs(lodge.pid) - notifiedFrom;
  for (const close of closers) close();
  await sleep(2_000);
  const figures = [opened * (1000 / followers), idle, memory, (notified * 1000) / followers];
  return [...figures.map((figure) => figure.toFixed(1)), `${heard} of ${followers}`];
}

const header = 'open, µs each | idle, % of a core | memory, MiB | an event each, µs | heard';
console.log(`\n| ${followers} followers | ${header} |\n| --- | --- | --- | --- | --- | --- |`);
for (const round of [1, 2]) {
  const ofLogs = await follow((id) => `/v1/agents/${id}/logs?follow=true`, /Resumed/g);
  console.log(`| of logs, round ${round} | ${ofLogs.join(' | ')} |`);
  const ofEvents = await follow(() => '/v1/events?follow=true', /^data: /gm);
  console.log(`| of events, round ${round} | ${ofEvents.join(' | ')} |`);
}
for (const child of [lodge, tight, raw, rawQuery, rawStore]) child.kill();
await world.close();
process.exit();
