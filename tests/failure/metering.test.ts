/**
 * Metering against the provider's own ledger, while the server that meters is killed again and again: calls of all four APIs,
 * streamed and not, cut at random bytes, given up by the guest, without a word about usage. The guarantee: whatever the
 * provider counted has one row; the row says the same, or it is marked as estimated.
 *
 * METERING_SEED makes the same calls again.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { randomFrom } from '@lodge/domain/testing';
import { formOf } from '@lodge/testkit/forms';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { startStubLlm } from '@lodge/testkit/llm';
import type { LedgerEntry, StubLlm } from '@lodge/testkit/llm';
import { Agent, request } from 'undici';
import { costOf, host, modelOf, planCall, providersAt } from './metering-plan.ts';
import type { PlannedCall, ServerSettings } from './metering-plan.ts';

/** By the provider's count, and kills among them. */
const { callCount, killCount } = formOf({
  short: { callCount: 160, killCount: 6 },
  long: { callCount: 1_000, killCount: 50 },
});
const seed = Number(process.env['METERING_SEED'] ?? randomInt(2 ** 31));
const random = randomFrom(seed);
const atOnce = 12;
/** Some calls come to nothing: the provider refuses them, or the server is killed before they go out. */
const maxCalls = 3 * callCount;
/** A server that serves nothing is no reason to wait on. */
const longestLifeMs = 5 * 60_000;

let database: TestDatabase;
let llm: StubLlm;
let settings: ServerSettings;
const planned: PlannedCall[] = [];
/** One agent each: a guest is known by its address. */
const addresses = Array.from({ length: 4 }, (_, n) => `127.0.77.${n + 1}`);
const dispatchers = addresses.map((localAddress) => new Agent({ localAddress, pipelining: 0 }));

before(async () => {
  database = await testDatabase();
  await execute(database.connectionString, `insert into accounts (id, name, role) values ('a', 'a', 'owner')`);
  for (const [n, address] of addresses.entries()) {
    await execute(
      database.connectionString,
      `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
         auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, host, vm_address)
       values ('aaaaaaaaaaa${n}', 'a', 'a', 'runtime_a', 'p/m', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now(),
         '${host}', '${address}')`,
    );
  }
  llm = await startStubLlm();
  llm.rule((asked) => planned[numberOf(asked.model)]!.reply);
  const providers = providersAt({
    'openai-completions': llm.openaiBaseUrl,
    'openai-responses': llm.openaiBaseUrl,
    'anthropic-messages': `${llm.anthropicBaseUrl}/v1`,
    'google-generative-ai': llm.googleBaseUrl,
  });
  settings = { connectionString: database.connectionString, providers, calls: maxCalls };
});
after(async () => {
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
  await llm?.close();
  await database?.drop();
});

const numberOf = (model: string): number => Number(/m(\d+)$/.exec(model)![1]);

async function startServer() {
  const child = spawn(process.execPath, [fileURLToPath(new URL('metering-server.ts', import.meta.url))], {
    env: { ...process.env, METERING: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const port = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => Number(line)),
    gone.then(() => Promise.reject(new Error('the server ended before it listened'))),
  ]);
  return {
    port,
    async end(signal: 'SIGKILL' | 'SIGTERM') {
      child.kill(signal);
      await gone;
    },
  };
}

/** Whatever becomes of it. */
async function make({ path, body, leavesAfterMs }: PlannedCall, port: number, n: number): Promise<void> {
  const signal = leavesAfterMs === null ? null : AbortSignal.timeout(leavesAfterMs);
  try {
    const reply = await request(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      dispatcher: dispatchers[n % dispatchers.length]!,
      signal,
    });
    await reply.body.dump({ limit: 1e7 });
  } catch {
    // The server was killed, the provider cut the answer, or the guest left.
  }
}

function nextCall(): [number, PlannedCall] {
  const n = planned.length;
  assert.ok(n < maxCalls, `${n} calls were made, and the provider counted no more than ${llm.ledger.length}`);
  planned.push(planCall(n, random));
  return [n, planned[n]!];
}

/** Calls one after another, a dozen at once, until the provider has counted so many. */
async function serve(counted: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const server = await startServer();
  const until = Date.now() + longestLifeMs;
  const ending = new AbortController();
  const worker = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const [n, call] = nextCall();
      await make(call, server.port, n);
    }
  };
  const working = Promise.all(Array.from({ length: atOnce }, worker));
  try {
    while (llm.ledger.length < counted) {
      assert.ok(Date.now() < until, `the provider counted ${llm.ledger.length} of ${counted} calls`);
      await Promise.race([working, sleep(5)]);
    }
    ending.abort();
    if (signal === 'SIGTERM') await working;
  } finally {
    ending.abort();
    await server.end(signal);
  }
  await working;
}

interface Row {
  readonly model: string;
  readonly outcome: string;
  readonly estimated: boolean;
  readonly input: string | null;
  readonly output: string | null;
  readonly read: string | null;
  readonly write: string | null;
  readonly cost: string | null;
}

const rows = (): Promise<Row[]> =>
  execute<Row>(
    database.connectionString,
    `select model, outcome, estimated, input_tokens as input, output_tokens as output, cache_read_tokens as read,
       cache_write_tokens as write, (cost_usd * 1000000000000)::bigint::text as cost from llm_calls`,
  );

const figuresOf = ({ input, output, read, write, cost }: Row): string =>
  [input, output, read ?? 0, write ?? 0, cost].map(Number).join();
const wantedOf = ({ usage }: LedgerEntry): string =>
  [usage.input, usage.output, usage.cacheRead ?? 0, usage.cacheWrite ?? 0, costOf(usage)].map(Number).join();

test('what the provider counted has one row each, with the same figures or a mark, however often the server is killed', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const share = callCount / (killCount + 1);
  for (let kill = 0; kill < killCount; kill += 1) {
    await serve(Math.ceil(share * (kill + 0.5 + random(1000) / 1000)), 'SIGKILL');
  }
  await serve(callCount, 'SIGTERM');
  // A killed server's last commit may have arrived while its successor looked.
  const last = await startServer();
  await last.end('SIGTERM');

  const open = await execute(database.connectionString, 'select id from llm_calls_open');
  assert.deepEqual(open, [], 'no call is open for ever');
  const written = new Map<string, Row>();
  for (const row of await rows()) {
    if (row.model === 'm') {
      // The guest left before it had said which model: nothing went out.
      assert.deepEqual([row.input, row.output, row.cost], [null, null, null]);
      continue;
    }
    assert.ok(!written.has(row.model), `a second row of ${row.model}`);
    written.set(row.model, row);
  }
  const marks = new Map<string, string[]>();
  let equal = 0;
  for (const entry of llm.ledger) {
    const model = modelOf(numberOf(entry.model));
    const row = written.get(model);
    assert.ok(row, `the provider counted ${model} and no row has it`);
    if (figuresOf(row) === wantedOf(entry)) {
      equal += 1;
      continue;
    }
    const difference = `${model}: ${figuresOf(row)} for ${wantedOf(entry)}`;
    assert.ok(row.estimated, `${difference}, and no mark but ${row.outcome}`);
    marks.set(row.outcome, [...(marks.get(row.outcome) ?? []), difference]);
  }
  t.diagnostic(
    `${planned.length} calls made, ${llm.ledger.length} counted by the provider, ${written.size} rows, ${killCount} kills; ${equal} equal`,
  );
  for (const [outcome, calls] of marks) {
    t.diagnostic(`${outcome}, estimated: ${calls.length} differ`);
    if (process.env['METERING_LIST'] !== undefined) for (const call of calls) t.diagnostic(`  ${call}`);
  }
  assert.ok(equal > llm.ledger.length / 3, 'what was not disturbed is equal');
});
