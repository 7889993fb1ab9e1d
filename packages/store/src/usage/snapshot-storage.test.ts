/** The disk of snapshots in usage follows their rows, however transactions cross. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testDatabase } from '@lodge/testkit/postgres';
import { Client } from 'pg';
import { openTestStore } from '../testing/agents-fixture.ts';
import { admitAll, firstAccount, newAgent, silent } from '../testing/fixture.ts';
import { deleteSnapshot, insertSnapshot, writeHeldBytes } from '../snapshots/index.ts';
import { setComputePrices, sumUsage } from './index.ts';

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
const gib = 2 ** 30;
const price = { running: '0', paused: '0', storage: '3600' };
await setComputePrices(store.database, { small: price, medium: price, large: price, xlarge: price });

let made = 0;
async function snapshotOf(agentId: string, heldBytes: number): Promise<string> {
  const id = `s${String((made += 1)).padStart(11, '0')}`;
  const row = { id, accountId, agentId, host: 'h', kind: 'named', status: 'ready', memory: false, turns: 0 } as const;
  await store.database.transaction((trx) => insertSnapshot(trx, { ...row, runtimeKind: 'runtime_a', size: 'medium' }));
  await hold(id, heldBytes);
  return id;
}
const hold = (id: string, heldBytes: number): Promise<void> =>
  store.database.transaction((trx) => writeHeldBytes(trx, [{ id, heldBytes }]));
const drop = (id: string) => store.database.transaction((trx) => deleteSnapshot(trx, id));
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

async function figuresOf(agentId: string) {
  const bounds = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
  const report = await usage.report({ accountId, agentId, bounds, groupBy: 'agent', limit: 100 });
  assert.notEqual(report, 'too_many');
  return report as Exclude<typeof report, 'too_many'>;
}

test('a snapshot counts from its save to its end, also without its agent, and at the price of its size', async () => {
  const { id: agentId } = await agents.create(newAgent(accountId), admitAll);
  const [first, second] = [await snapshotOf(agentId, gib / 2), await snapshotOf(agentId, gib)];
  await pause();
  await hold(first, 2 * gib);
  await sumUsage(store.database);
  await agents.markDeleted(accountId, agentId);
  await agents.finishDelete(agentId, 'h');
  await pause();
  const before = (await figuresOf(agentId)).totals.storageGbSeconds;
  assert.ok(before >= 0.06 * 1.5 + 0.06 * 3, `${before}`);
  await pause();
  const { totals } = await figuresOf(agentId);
  assert.ok(totals.storageGbSeconds >= before + 0.06 * 3, 'a snapshot that outlives its agent goes on');
  await drop(first);
  await pause();
  await drop(second);
  const ended = await figuresOf(agentId);
  const { rows } = await sql.query<{ gib_seconds: string; steps: number; left: string }>(
    `select sum(-disk_gib * extract(epoch from at)) as gib_seconds, count(*)::int as steps, sum(disk_gib) as left
     from compute_steps where agent_id = $1`,
    [agentId],
  );
  assert.equal(ended.totals.storageGbSeconds, Math.round(Number(rows[0]!.gib_seconds) * 1000) / 1000);
  assert.equal(Number(ended.totals.storageUsd).toFixed(3), ended.totals.storageGbSeconds.toFixed(3));
  assert.deepEqual([rows[0]!.steps, Number(rows[0]!.left)], [5, 0]);
  assert.deepEqual(
    ended.records.map(({ group }) => group),
    [agentId],
  );
  await sumUsage(store.database);
  await pause();
  assert.deepEqual((await figuresOf(agentId)).totals, ended.totals, 'what has ended counts no more');
});

test('transactions that cross leave the rates as the rows are, and a new price holds from now on', async () => {
  const { id: agentId } = await agents.create(newAgent(accountId), admitAll);
  const ids = await Promise.all(Array.from({ length: 12 }, () => snapshotOf(agentId, gib)));
  await Promise.all([
    ...ids.slice(0, 6).map(drop),
    ...ids.slice(3).map((id) => hold(id, 3 * gib)),
    sumUsage(store.database),
  ]);
  for (const id of ids) await hold(id, 3 * gib);
  const rates = async () => {
    const { rows } = await sql.query<{ disk: number; usd: number }>(
      `select disk_gib::float as disk, storage_usd::float as usd from compute_rates where agent_id = $1 and of_snapshots`,
      [agentId],
    );
    return rows[0];
  };
  assert.deepEqual(await rates(), { disk: 18, usd: 18 * 3600 });
  const dearer = { ...price, storage: '7200' };
  await setComputePrices(store.database, { small: price, medium: dearer, large: price, xlarge: price });
  assert.deepEqual(await rates(), { disk: 18, usd: 18 * 7200 });
  const { rows } = await sql.query<{ disk: number; usd: number }>(
    `select sum(disk_gib)::float as disk, sum(storage_usd)::float as usd from compute_steps where agent_id = $1`,
    [agentId],
  );
  assert.deepEqual(rows[0], await rates(), 'the steps come to the rates');
});
