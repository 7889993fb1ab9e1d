import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { execute, testServerFolder } from '@lodge/testkit/postgres';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../embedded/embedded-postgres.ts';
import { admitAll, firstAccount, newAgent, silent } from '../testing/fixture.ts';
import { migrate } from './migrate.ts';
import { advisoryLocks } from './locks.ts';
import { openTestStore } from '../testing/agents-fixture.ts';

// A database is killed under an open store. An unhandled error would end this process, and so fail the file.
const folder = await testServerFolder();
let postgres = await startEmbeddedPostgres({ ...folder, log: silent });
await migrate(postgres);
const store = await openTestStore({ ...postgres, log: silent });
after(async () => {
  await store.close();
  await postgres.stop();
  await folder.remove();
});
const accountId = await firstAccount(store.database);

const restarted = () => new Promise<void>((resolve) => void postgres.onRestart(resolve));

/** Fills the pool, so that the following queries find connections that the kill cut. */
const fillPool = () => Promise.all(Array.from({ length: 20 }, () => store.agents.all()));

test('reads and repeatable writes wait for a killed database to come back', async () => {
  const { id } = await store.agents.create(newAgent(accountId), admitAll);
  await fillPool();
  const back = restarted();
  process.kill(postgres.pid, 'SIGKILL');
  const [found, leased] = await Promise.all([
    store.agents.find(id),
    store.agents.lease(id, 'h', 60_000),
    store.agents.prolongKeepAwake([id], 'h', 1_000),
    ...Array.from({ length: 20 }, () => store.agents.all()),
  ]);
  assert.equal(found!.id, id);
  assert.equal(leased, true);
  await back;
  await store.ping();
});

test('a create begun while the database is down is made once, when it is back', async () => {
  const before = (await store.agents.all()).length;
  await postgres.stop();
  const creating = store.agents.create(newAgent(accountId), admitAll);
  postgres = await startEmbeddedPostgres({ ...folder, log: silent });
  await creating;
  assert.equal((await store.agents.all()).length, before + 1);
});

test('a create whose connection is lost half-way fails, is not repeated, and leaves nothing', async () => {
  const agent = newAgent(accountId);
  let admissions = 0;
  const back = restarted();
  const lost = store.agents.create(agent, () => {
    admissions += 1;
    process.kill(postgres.pid, 'SIGKILL');
    // It waits until the backend has noticed too, so the answer to the insert never comes.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  });
  await assert.rejects(lost);
  assert.equal(admissions, 1);
  await back;
  assert.equal(await store.agents.find(agent.id), null);
});

test('listeners hear that anything may have changed after a restart', async (t) => {
  const heard = new Promise<string | null>((resolve) => t.after(store.agents.onChange(resolve)));
  process.kill(postgres.pid, 'SIGKILL');
  assert.equal(await heard, null);
});

test('connections cut while idle are replaced', async () => {
  await fillPool();
  await execute(
    postgres.connectionString,
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lodge'`,
  );
  await fillPool();
});

test('a create that cannot get its turn is refused within 15 s and leaves nothing', async (t) => {
  const blocker = new Client({ connectionString: postgres.connectionString });
  await blocker.connect();
  t.after(() => blocker.end());
  const agent = newAgent(accountId);
  await blocker.query(`select pg_advisory_lock(${advisoryLocks.createAgent})`);
  const began = performance.now();
  await assert.rejects(store.agents.create(agent, admitAll), { code: '57014' });
  assert.ok(performance.now() - began < 15_000);
  assert.equal(await store.agents.find(agent.id), null, 'reads are not held back');
  await blocker.query(`select pg_advisory_unlock(${advisoryLocks.createAgent})`);
  await store.agents.create(agent, admitAll);
});

test('a database that is away is an error, not a wait without end', async () => {
  const away = { connectionString: 'postgres://lodge@127.0.0.1:1/none?password=marked-secret', log: silent };
  for (const open of [() => openTestStore(away), () => migrate(away)]) {
    await assert.rejects(open, (error: Error & { code: string }) => {
      assert.equal(error.code, 'ECONNREFUSED');
      assert.ok(!`${error.stack} ${JSON.stringify(error)}`.includes('marked-secret'));
      return true;
    });
  }
});
