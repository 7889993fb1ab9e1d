/**
 * CPU of the server per request, against raw node:http that sends the same JSON: GET of an agent, a list of 100, 401, 429, with
 * 10,000 agents in the table; and 2,000 followers of a log. Server and database are processes of their own; the clock is the
 * server's own CPU time (utime and stime of /proc), so that what else the machine does is not in it.
 * Prints a table; benchmarks/results has one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { manyRates, openWorld } from '../tests/e2e/api/world.ts';

const requests = Number(process.argv[2] ?? 4000);
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
  const [line] = await once(createInterface(child.stdout), 'line');
  return { url: String(line), pid: child.pid!, kill: () => child.kill('SIGKILL') };
}

/** CPU time of a process, ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
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

/** Server CPU per request, µs, and requests a second. */
async function measure({ pid }: Child, url: string, key: string, wanted: number) {
  const run = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 1) {
      const status = await ask(url, key);
      if (status !== wanted) throw new Error(`${url}: ${status}`);
    }
  };
  const all = (count: number) => Promise.all(Array.from({ length: connections }, () => run(count / connections)));
  await all(requests / 4);
  const cpu = cpuMs(pid);
  const started = performance.now();
  await all(requests);
  const seconds = (performance.now() - started) / 1000;
  return { us: ((cpuMs(pid) - cpu) * 1000) / requests, perSecond: requests / seconds };
}

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
const lodge = await serve(manyRates);
const tight = await serve({ ...manyRates, reads: 1 });
const agent = '/v1/agents/b00000005000';
const fetched = async (path: string) =>
  (await fetch(`${world.url}${path}`, { headers: { 'x-api-key': world.key } })).text();
const rawEntry = fileURLToPath(new URL('api-raw.ts', import.meta.url));
const one = { RAW_ONE: await fetched(agent) };
const raw = await start(rawEntry, one);
const rawAgent = agent.split('/').at(-1)!;
const rawQuery = await start(rawEntry, { ...one, RAW_DATABASE: connectionString, RAW_AGENT: rawAgent });

const rows: [string, { us: number; perSecond: number }][] = [
  ['raw node:http, the same agent', await measure(raw, `${raw.url}/`, 'x', 200)],
  ['raw node:http, and one indexed query', await measure(rawQuery, `${rawQuery.url}/`, 'x', 200)],
  ['GET /v1/agents/:id', await measure(lodge, `${lodge.url}${agent}`, world.key, 200)],
  ['GET /v1/agents?limit=100', await measure(lodge, `${lodge.url}/v1/agents?limit=100`, world.key, 200)],
  ['401, malformed key', await measure(lodge, `${lodge.url}/v1/agents`, 'lodge_live_no', 401)],
];
await ask(`${tight.url}/v1/sizes`, world.key);
rows.push(['429', await measure(tight, `${tight.url}/v1/sizes`, world.key, 429)]);

console.log('| request | server CPU, µs | requests/s |\n| --- | --- | --- |');
for (const [what, { us, perSecond }] of rows) console.log(`| ${what} | ${us.toFixed(0)} | ${perSecond.toFixed(0)} |`);

const before = cpuMs(lodge.pid);
const rssMib = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${lodge.pid}/status`, 'utf8'))![1]) / 1024;
const rssBefore = rssMib();
let open = 0;
let refused = 0;
const wide = new Agent({ keepAlive: false });
// An account may have 50 at once.
const accounts = await Promise.all(
  Array.from({ length: followers / 50 }, async (_, i) => {
    const account = await world.newAccount();
    const id = `b0000000${String(i + 1).padStart(4, '0')}`;
    await world.sql.query('update agents set account_id = $1 where id = $2', [account, id]);
    return { id, key: await world.keyOf(account) };
  }),
);
const streams = Array.from(
  { length: followers },
  (_, i) =>
    new Promise<() => void>((resolve) => {
      const { id, key } = accounts[i % accounts.length]!;
      const request = get(
        `${lodge.url}/v1/agents/${id}/logs?follow=true`,
        { agent: wide, headers: { 'x-api-key': key } },
        (response) => {
          if (response.statusCode === 200) open += 1;
          else refused += 1;
          response.resume();
          response.on('error', () => undefined);
          resolve(() => request.destroy());
        },
      );
      request.on('error', () => resolve(() => undefined));
    }),
);
const closers = await Promise.all(streams);
const opened = cpuMs(lodge.pid) - before;
const idleFrom = cpuMs(lodge.pid);
await new Promise((resolve) => setTimeout(resolve, 10_000));
console.log(
  `\n${open} of ${followers} followers open (${refused} refused): ${opened} ms CPU to open, ${((cpuMs(lodge.pid) - idleFrom) / 100).toFixed(1)} % of a core while open, ${(rssMib() - rssBefore).toFixed(0)} MiB more memory`,
);
for (const close of closers) close();
for (const child of [lodge, tight, raw, rawQuery]) child.kill();
await world.close();
process.exit();
