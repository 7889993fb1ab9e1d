import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { makeSchedule, placeOf, readSchedule, requestRun } from '../testing/schedule-fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { findSchedule, lockSchedule, scheduleRuns, schedulesOf } from './index.ts';

const { store } = await testStore();
const accountId = await firstAccount(store.database);
const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;

test("another account's schedule is not there, and neither is another agent's", async () => {
  const row = await makeSchedule(store, { accountId, agentId: await agent() });
  await requestRun(store, row);
  assert.deepEqual(
    await readSchedule(store, row),
    (await store.database.repeatable((db) => schedulesOf(db, accountId, row.agentId)))[0],
  );
  for (const place of [
    { ...placeOf(row), accountId: 'other' },
    { ...placeOf(row), agentId: await agent() },
    { ...placeOf(row), scheduleId: 'x\0y' },
  ]) {
    assert.equal(await store.database.repeatable((db) => findSchedule(db, place)), undefined);
    assert.equal(await store.database.transaction((trx) => lockSchedule(trx, place)), undefined);
    assert.deepEqual(await store.database.repeatable((db) => scheduleRuns(db, place, { limit: 10 })), []);
  }
});

test('a run that somebody asks for is one: another is refused until it is over', async () => {
  const row = await makeSchedule(store, { accountId, agentId: await agent() }, { enabled: false, nextRunAt: null });
  const run = await requestRun(store, row);
  assert.deepEqual([run?.manual, run?.status, run?.startedAt], [true, null, null]);
  assert.equal(await requestRun(store, row), undefined);
  assert.deepEqual((await readSchedule(store, row))?.lastRun, run);
});
