/**
 * kill -9 of what makes runs of schedules, while very many are due in one second. The guarantee: each schedule's time has one run;
 * each run comes to one end, told once; an agent is told its prompt no more often than the run says, and a further time with the
 * word that it may have acted; where a run is not `ok`, its reason is there.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeAgentId } from '@lodge/domain';
import { migrate } from '@lodge/store';
import { formOf } from '@lodge/testkit/forms';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import type { RunnerSettings } from './schedules-runner.ts';

const agents = 50;
const schedules = 1_000;
const kills = 10;
/** Processes that make runs beside one another. */
const processes = formOf({ short: 1, long: 2 });
const everyMs = formOf({ short: 700, long: 2_500 });
const withinMs = formOf({ short: 4, long: 10 }) * 60_000;

interface Told {
  readonly attempt: number;
  readonly mayHaveActed: boolean;
}

let database: TestDatabase;
let gateway: Server;
let settings: RunnerSettings;
const children: ChildProcess[] = [];
/** What agents were told, by the schedule's conversation. */
const told = new Map<string, Told[]>();

before(async () => {
  database = await testDatabase();
  await migrate(database);
  gateway = createServer((request, response) => {
    void json(request).then(
      async (body) => {
        note(
          String(request.headers['x-conversation']),
          (body as { messages: { content: string }[] }).messages[0]!.content,
        );
        await sleep(randomInt(formOf({ short: 60, long: 400 })));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const chunk = { choices: [{ index: 0, delta: { content: 'done' }, finish_reason: null }] };
        response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      },
      () => undefined,
    );
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/v1`;
  settings = { connectionString: database.connectionString, gatewayUrl };
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  gateway?.closeAllConnections();
  gateway?.close();
  await database?.drop();
});

function note(conversation: string, prompt: string): void {
  const facts = JSON.parse(/^\[scheduled run (.*)\]$/m.exec(prompt)![1]!) as Record<string, unknown>;
  const of = told.get(conversation) ?? [];
  of.push({ attempt: Number(facts['attempt'] ?? 1), mayHaveActed: facts['earlier_attempt_may_have_acted'] === true });
  told.set(conversation, of);
}

async function startRunner(n: number): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('schedules-runner.ts', import.meta.url))], {
    env: { PATH: process.env['PATH'], SCHEDULES: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children[n] = child;
  await once(child.stdout, 'data');
}

async function killRunner(n: number): Promise<void> {
  const child = children[n]!;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

const query = <Row extends object>(sql: string): Promise<Row[]> => execute<Row>(database.connectionString, sql);

/** All due in the same second, a moment from now. */
async function makeSchedules(): Promise<void> {
  await query(`insert into accounts (id, name, role) values ('a', 'a', 'owner')`);
  const ids = Array.from({ length: agents }, () => makeAgentId(randomInt));
  for (const id of ids) {
    await query(
      `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
         auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, status, host, acknowledged, vm_address, execution_id)
       values ('${id}', 'a', 'a', 'runtime_a', 'p/m', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now(), 'running',
         'here', true, '${id}', '${randomBytes(4).toString('hex')}')`,
    );
  }
  await query(
    `insert into schedules (id, agent_id, account_id, name, enabled, cron, time_zone, anchor, prompt, deliver_to, wake, next_run_at)
     select 's' || n, (array[${ids.map((id) => `'${id}'`).join()}])[1 + n % ${agents}], 'a', 'S' || n, true, '0 0 1 1 *', 'UTC', now(), 'x', 'none',
       true, date_trunc('second', clock_timestamp() + interval '2 seconds')
     from generate_series(1, ${schedules}) n`,
  );
}

async function untilOver(): Promise<void> {
  for (const end = Date.now() + withinMs; ;) {
    const [row] = await query<{ all: number; open: number }>(
      `select count(*)::int as all, (count(*) filter (where status is null))::int as open from schedule_runs`,
    );
    if (row!.all === schedules && row!.open === 0) return;
    assert.ok(Date.now() < end, `${row!.all} of ${schedules} have a run, ${row!.open} are not over`);
    await sleep(500);
  }
}

interface RunRow {
  readonly schedule_id: string;
  readonly status: string;
  readonly attempts: number;
  readonly error: string | null;
}

test(
  `${schedules} schedules due at once over ${agents} agents, ${kills} kills`,
  { timeout: withinMs + 60_000 },
  async (t) => {
    const startedAt = performance.now();
    for (let n = 0; n < processes; n += 1) await startRunner(n);
    await makeSchedules();
    await sleep(2_000);
    for (let n = 0; n < kills; n += 1) {
      await sleep(everyMs / 2 + randomInt(everyMs));
      await killRunner(n % processes);
      await startRunner(n % processes);
    }
    await untilOver();

    const runs = await query<RunRow>('select schedule_id, status, attempts, error from schedule_runs');
    assert.equal(new Set(runs.map(({ schedule_id }) => schedule_id)).size, schedules, 'a time has two runs');
    const repeated: string[] = [];
    for (const { schedule_id: id, status, attempts, error } of runs) {
      const prompts = told.get(`schedule:${id}`) ?? [];
      assert.ok(status === 'ok' || error !== null, `${id} is ${status} without a reason`);
      assert.ok(prompts.length <= attempts, `${id} was told ${prompts.length} times in ${attempts} attempts`);
      assert.ok(attempts <= 4, `${id} was begun ${attempts} times`);
      if (status === 'ok') assert.ok(prompts.length >= 1, `${id} is ok, and its agent was told nothing`);
      // One before it may have come to nothing without a word to the agent.
      for (const [n, { attempt, mayHaveActed }] of prompts.entries()) {
        assert.ok(
          n === 0 ? attempt > 1 || !mayHaveActed : mayHaveActed,
          `${id}: attempt ${attempt} says ${mayHaveActed}`,
        );
      }
      if (prompts.length > 1) repeated.push(id);
    }
    const events = await query<{ n: number; of: number }>(
      `select count(*)::int as n, count(distinct data->>'schedule_id')::int as of from events
     where type in ('schedule.ran', 'schedule.failed', 'schedule.missed')`,
    );
    assert.deepEqual(events, [{ n: schedules, of: schedules }], 'an end is told once');
    // A kill cuts what is under way in one process: an agent each, and no more than the process has at once.
    assert.ok(repeated.length <= kills * 16, `${repeated.length} were told more than once`);
    const ok = runs.filter(({ status }) => status === 'ok').length;
    t.diagnostic(
      `${ok} ok, ${runs.length - ok} with their reason, ${repeated.length} told more than once, in ${Math.round((performance.now() - startedAt) / 1_000)} s`,
    );
  },
);
