/** The queue of work is made of what an earlier release left waiting and under way, however often that is broken off. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { emptyDatabase, execute } from '@lodge/testkit/postgres';
import { migrate, MigrationError } from '../database/migrate.ts';
import { openStore } from '../store.ts';
import { silent } from '../testing/fixture.ts';
import type { Transaction } from '../database/database.ts';
import { endMessage } from '../hooks/ends.ts';
import { endRun } from '../schedules/ends.ts';
import { claimWork } from './claim.ts';
import type { WorkClaim } from './leases.ts';

const own = join(import.meta.dirname, '../database/migrations');
const name = '0041_work.sql';
let database: Awaited<ReturnType<typeof emptyDatabase>>;
let earlier: string;

const run = <Row extends object>(statement: string) => execute<Row>(database.connectionString, statement);
const whole = `
  select 'run' as kind, id, account_id, agent_id, due_at, attempts, started_at, attempt_at, may_have_acted, error as reason, claim,
    claim_holder, claim_until from schedule_runs where status is null
  union all
  select 'message', id, account_id, agent_id, due_at, attempts, started_at, attempt_at, may_have_acted, reason, claim,
    claim_holder, claim_until from hook_messages where status is null
  order by kind, id`;

/** Work of an earlier release: of each agent some waits, one piece is under way, one's process died, and some has ended. */
const work = `
  insert into accounts (id, name) values ('a', 'a'), ('b', 'b');
  insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
    auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at)
  select 'agent' || lpad(n::text, 7, '0'), case when n % 3 = 0 then 'b' else 'a' end, 'n', 'runtime_a', 'm', 'small', 1, 1, 'auto',
    true, true, true, '{}', now(), now() from generate_series(1, 12) n;
  insert into schedules (id, agent_id, account_id, name, enabled, every, time_zone, anchor, prompt, deliver_to, wake)
  select a.id || n, a.id, a.account_id, 'n', true, '1h', 'UTC', now(), 'p', 'none', true from agents a, generate_series(1, 6) n;
  insert into hooks (id, agent_id, account_id, name, token_hash, last4)
  select id || 'h', id, account_id, 'n', sha256(id::bytea), 'last' from agents;
  insert into schedule_runs (schedule_id, agent_id, account_id, scheduled_for, due_at, status, ended_at, attempts, answer_preview)
  select id, agent_id, account_id, now() - interval '1 day', now(), 'ok', now(), 1, 'x' from schedules;
  insert into schedule_runs (schedule_id, agent_id, account_id, scheduled_for, due_at)
  select id, agent_id, account_id, now(), now() - random() * interval '1 minute' from schedules order by random();
  insert into hook_messages (hook_id, agent_id, account_id, text, is_cut, due_at)
  select h.id, h.agent_id, h.account_id, 't', false, now() - random() * interval '1 minute' from hooks h, generate_series(1, 6) order by random();
  insert into hook_messages (hook_id, agent_id, account_id, is_cut, status, ended_at, reason)
  select id, agent_id, account_id, false, 'failed', now(), 'x' from hooks`;
/** The earlier release's claims; `n` numbers the pieces of an agent. */
const claims = (table: string, reason: string) => `
  update ${table} r set attempts = 1, started_at = now() - interval '50 s', attempt_at = now() - interval '50 s', claim = 3,
    claim_holder = 'h', claim_until = now() + case when n.n = 1 then interval '50 s' else interval '-1 s' end
  from (select id, row_number() over (partition by agent_id order by due_at, seq) as n from ${table} where status is null) n
  where n.id = r.id and n.n <= 2;
  update ${table} r set attempts = 2, started_at = now() - interval '50 s', may_have_acted = true, claim = 2, ${reason} = 'Busy.'
  from (select id, row_number() over (partition by agent_id order by due_at, seq) as n from ${table} where status is null) n
  where n.id = r.id and n.n = 3`;

before(async () => {
  database = await emptyDatabase();
  earlier = await mkdtemp(join(tmpdir(), 'lodge-test-migrations-'));
  const files = (await readdir(own)).toSorted();
  for (const file of files.slice(0, files.indexOf(name))) await copyFile(join(own, file), join(earlier, file));
  await migrate(database, earlier);
  for (const statement of work.split(';')) await run(statement);
  for (const statement of [claims('schedule_runs', 'error'), claims('hook_messages', 'reason')].join(';').split(';')) {
    await run(statement);
  }
});
after(async () => {
  await database.drop();
  await rm(earlier, { recursive: true });
});

const migrating = `
  select pid from pg_stat_activity
  where datname = current_database() and state = 'active'
    and (query like '-- One queue of work%' or query like 'insert into schema_migrations%')`;
async function untilMigrating(waiting: string): Promise<number> {
  for (;;) {
    const [found] = await run<{ pid: number }>(`${migrating} ${waiting}`);
    if (found) return found.pid;
    await sleep(1);
  }
}
const terminate = (pid: number) => run(`select pg_terminate_backend(${pid})`);

/** Does something while the migration waits for this lock, at the latest. */
async function withLock(lock: string, work: () => Promise<unknown>): Promise<void> {
  const blocker = new Client(database);
  await blocker.connect();
  try {
    await blocker.query(`begin; lock table ${lock}`);
    await work();
  } finally {
    await blocker.end();
  }
  // The connection of a killed process goes on with its statement, and learns of the death after that.
  while ((await run(migrating)).length > 0) await sleep(1);
}

async function terminated(waiting: string, afterMs = 0): Promise<void> {
  const failed = assert.rejects(migrate(database), MigrationError);
  const pid = await untilMigrating(waiting);
  await sleep(afterMs);
  await terminate(pid);
  await failed;
}

async function killed(waiting: string): Promise<void> {
  const code = `const { migrate } = await import(${JSON.stringify(join(import.meta.dirname, '../database/migrate.ts'))});
    await migrate(${JSON.stringify({ connectionString: database.connectionString })});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  await untilMigrating(waiting);
  child.kill('SIGKILL');
  await exited;
}

test('work under way is carried over once, however often the migration is killed', async () => {
  const expected = await run(whole);
  assert.equal(expected.length, 12 * 12);
  const locks = [
    'schedule_runs in access exclusive mode',
    'hook_messages in access exclusive mode',
    'schedule_runs in access share mode',
    'hook_messages in access share mode',
  ];
  const isWaiting = `and wait_event_type = 'Lock'`;
  for (const lock of locks) {
    await withLock(lock, () => terminated(isWaiting));
    await withLock(lock, () => killed(isWaiting));
  }
  // A lock on its record keeps the migration from its end.
  for (let ms = 0; ms < 12; ms += 1) {
    await withLock('schema_migrations in share mode', () => terminated('', ms));
    assert.deepEqual(await run(whole), expected);
  }
  await migrate(database);
  const carried = await run(
    `select kind, id, account_id, agent_id, due_at, attempts, started_at, attempt_at, may_have_acted, reason, claim, claim_holder,
       claim_until from work order by kind, id`,
  );
  assert.deepEqual(carried, expected);
  const [left] = await run(`select
    (select count(*)::int from schedule_runs where status = 'ok') as runs,
    (select count(*)::int from hook_messages where status = 'failed') as messages`);
  assert.deepEqual(left, { runs: 72, messages: 12 });
});

test('the release before refuses the database in one sentence', async () => {
  await assert.rejects(migrate(database, earlier), (error: Error) => {
    assert.ok(error instanceof MigrationError);
    assert.match(
      error.message,
      /^The database has the migration 0041_work\.sql, which this release does not know: a newer/,
    );
    return true;
  });
});

test('each piece is done once, in its order, and those under way end under their own claims', async () => {
  const store = await openStore({ ...database, log: silent });
  try {
    const ends = {
      run: (trx: Transaction, claim: WorkClaim) =>
        endRun(trx, claim, { status: 'ok', error: null, answerPreview: null }),
      message: (trx: Transaction, claim: WorkClaim) => endMessage(trx, claim, { status: 'answered', reason: null }),
    };
    for (const kind of ['run', 'message'] as const) {
      const claimAll = () =>
        store.database.transaction((trx) =>
          claimWork(trx, { holder: 'new', host: 'here', places: { [kind]: 100 }, leaseMs: 60_000, except: [] }),
        );
      const end = (claim: WorkClaim) => store.database.transaction<object | undefined>((trx) => ends[kind](trx, claim));
      const left = await run<{ id: string; lane: string; attempts: number }>(
        `select id, lane, attempts from work where kind = '${kind}' order by lane, due_at, seq`,
      );
      assert.deepEqual(await claimAll(), [], 'the first piece of each agent is under way elsewhere');
      const held = await run<{ id: string; claim: number }>(
        `select id, claim from work where kind = '${kind}' and claim_until > now()`,
      );
      assert.equal(held.length, 12);
      for (const claim of held) assert.ok(await end(claim));
      const done = new Map<string, string[]>();
      for (let claimed = await claimAll(); claimed.length > 0; claimed = await claimAll()) {
        for (const { id, claim, attempts, mayHaveActed } of claimed) {
          const { lane, attempts: tried } = left.find((piece) => piece.id === id)!;
          assert.deepEqual([attempts, mayHaveActed], [tried, tried > 0]);
          done.set(lane, [...(done.get(lane) ?? []), id]);
          assert.ok(await end({ id, claim }));
        }
      }
      const heldIds = new Set(held.map(({ id }) => id));
      for (const [lane, ids] of done) {
        const inOrder = left.filter((piece) => piece.lane === lane && !heldIds.has(piece.id)).map(({ id }) => id);
        assert.deepEqual(ids, inOrder);
      }
      assert.equal(done.size, 12);
    }
    assert.deepEqual(await run('select from work'), []);
  } finally {
    await store.close();
  }
});
