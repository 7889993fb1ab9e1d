import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jumpingClock } from '@lodge/testkit/jumping-clock';
import { execute } from '@lodge/testkit/postgres';
import { crowd, deleteSchedule, lockDue, makeRuns, schedulesOf, skipWaitingRun } from '@lodge/store/schedules';
import type { ScheduleRow } from '@lodge/store/schedules';
import type { ClaimedRun } from '@lodge/store/work';
import { deleteChannel } from '@lodge/store/channels';
import { agentWithChannel, inbound, leasesOf } from '../../../store/src/testing/channel-fixture.ts';
import { admitAll, finishedCall, firstAccount, newAgent } from '../../../store/src/testing/fixture.ts';
import {
  changeSchedule,
  makeSchedule,
  readSchedule,
  requestRun,
  runsOf,
  scheduleId,
} from '../../../store/src/testing/schedule-fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { WorkHand } from '../../../testkit/src/plane/work-hand.ts';
import { defaultScheduleBounds } from './bounds.ts';
import { fire as fireSchedules, replan as replanSchedules } from './firing.ts';
import { scheduleRuns } from './runs.ts';

const { database, store: first, another } = await testStore();
const setAhead = await jumpingClock(database);
const store = await another();
const other = await another();
const accountId = await firstAccount(first.database);
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;

const made = (agentId: string, given: Parameters<typeof makeSchedule>[2] = {}): Promise<ScheduleRow> =>
  makeSchedule(store, { accountId, agentId }, given);
const statuses = async (row: ScheduleRow) => (await runsOf(store, row)).map(({ status }) => status);
const events = async (agentId: string) =>
  store.events.page({
    accountId,
    agentId,
    limit: 100,
    direction: 'asc',
    types: ['schedule.ran', 'schedule.failed', 'schedule.missed'],
  });

const [runs, otherRuns] = [store, other].map(
  (of) => new WorkHand<ClaimedRun>(of, 'run', scheduleRuns(defaultScheduleBounds)),
) as [WorkHand<ClaimedRun>, WorkHand<ClaimedRun>];
/** Runs of many agents are put off; here none waits for that. */
async function fire(by = store): Promise<number> {
  const fired = await fireSchedules(by.database, 1_000);
  await execute(database.connectionString, `update work set due_at = due_at - interval '1 minute' where attempts = 0`);
  return fired;
}
const claim = (by = runs, given: Parameters<typeof runs.claim>[0] = {}) => by.claim(given);
/** Claims until the schedule's run is among the claims; the others end. */
async function claimOf(row: ScheduleRow, by = runs): Promise<ClaimedRun> {
  for (;;) {
    const claimed = await claim(by);
    const found = claimed.find(({ facts: { schedule } }) => schedule.id === row.id);
    for (const run of claimed) if (run !== found) await by.end(run, ok);
    if (found) return found;
    assert.ok(claimed.length > 0, 'nothing to claim');
  }
}
const ok = { outcome: 'answered', reason: null, answer: 'Hello.\nAll is well.' } as const;
const inTheFuture = { enabled: true, cron: '0 0 1 1 *', nextRunAt: new Date('2099-01-01T00:00:00Z') } as const;
const soon = (ms: number): Date => new Date(Date.now() + ms);

test('a time that has come becomes one run, and the schedule waits for its next time, however many look', async () => {
  const rows = await Promise.all(Array.from({ length: 12 }, async () => made(await agent())));
  const fired = await Promise.all([fire(), fire(other), fire(), fire(other)]);
  assert.equal(
    fired.reduce((sum, n) => sum + n, 0),
    12,
  );
  for (const row of rows) {
    const runs = await runsOf(store, row);
    assert.equal(runs.filter(({ status }) => status === null).length, 1);
    assert.ok((await readSchedule(store, row))!.nextRunAt! > new Date());
  }
  await Promise.all(rows.map((row) => store.database.transaction((trx) => deleteSchedule(trx, row.id))));
});

test('who plans is told how many agents are due at once, and a run waits as long as it is put off', async () => {
  const rows = await Promise.all(Array.from({ length: 8 }, async () => made(await agent())));
  const counts: number[] = [];
  const fireOne = () =>
    store.database.transaction(async (trx) => {
      const due = await lockDue(trx, 1_000);
      if (due.length === 0) return false;
      counts.push((await crowd(trx)).agents);
      await makeRuns(
        trx,
        due.map((each) => ({ ...each, scheduledFor: each.due, next: soon(dayMs), jitterMs: 60_000 })),
      );
      return true;
    });
  while (await fireOne());
  assert.ok(counts.length === 8 && counts.every((agents) => agents >= 8), String(counts));
  assert.equal(
    (await claim()).filter(({ facts: { schedule } }) => rows.some(({ id }) => id === schedule.id)).length,
    0,
  );
  await Promise.all(rows.map((row) => store.database.transaction((trx) => deleteSchedule(trx, row.id))));
});

test('times that passed while nobody looked: one run, and the rest is missed, with its event', async () => {
  const row = await made(await agent(), { cron: '0 * * * *', nextRunAt: soon(-26 * 60 * minuteMs) });
  await fire();
  assert.deepEqual(await statuses(row), ['missed', null]);
  const [missed] = await events(row.agentId);
  assert.equal(missed?.type, 'schedule.missed');
  assert.match(String(missed?.data['reason']), /one run stands for them/);
  assert.equal((await readSchedule(store, row))?.lastRun?.status, null);
});

test('a time that comes while the run before is not over is skipped', async () => {
  const row = await made(await agent());
  await fire();
  const held = await claimOf(row);
  const due = (at: Date) => changeSchedule(store, row, { nextRunAt: at });
  await due(soon(-1_000));
  await fire();
  assert.deepEqual(await statuses(row), ['skipped', null]);
  assert.ok(await runs.end(held, ok));
  await due(soon(-500));
  await fire();
  assert.deepEqual(await statuses(row), [null, 'skipped', 'ok']);
});

test('one run of an agent at a time, and no account before all others', async () => {
  const agentId = await agent();
  const [one, two] = [await made(agentId), await made(agentId)];
  await fire();
  const claimed = (await claim()).filter(({ facts: { schedule } }) => schedule.agentId === agentId);
  assert.deepEqual(
    claimed.map(({ facts: { schedule } }) => schedule.id),
    [one.id],
  );
  assert.equal((await claim(otherRuns)).filter(({ facts: { schedule } }) => schedule.agentId === agentId).length, 0);
  await runs.end(claimed[0]!, ok);
  assert.equal((await claimOf(two)).facts.schedule.id, two.id);
});

test('what an earlier claimer writes is refused; who claims after it knows that it may have acted', async () => {
  const row = await made(await agent());
  await fire();
  const old = await claimOf(row);
  await execute(database.connectionString, `update work set claim_until = now() where id = '${old.id}'`);
  assert.equal((await claim(runs, { except: [old.id] })).length, 0, 'what is under way here is not taken again');
  const again = await claimOf(row, otherRuns);
  assert.deepEqual([again.id, again.attempts, again.mayHaveActed], [old.id, 1, true]);
  assert.equal(await runs.end(old, ok), false);
  assert.equal(await runs.postpone(old, { afterMs: 0, reason: 'x', mayHaveActed: false }), false);
  assert.deepEqual([...(await runs.renew([old, again], 30_000))], [again.id]);
  await execute(database.connectionString, `update work set claim = 9 where id = '${old.id}'`);
  assert.equal((await runs.renew([again], 30_000)).size, 0);
  await execute(database.connectionString, `update work set claim = ${again.claim} where id = '${old.id}'`);
  assert.equal(await runs.end(again, ok), true);
  assert.deepEqual(await statuses(row), ['ok']);
});

test('a run that is put off waits so long, with the reason', async () => {
  const row = await made(await agent());
  await fire();
  const run = await claimOf(row);
  await runs.postpone(run, { afterMs: 60_000, reason: 'Not now.', mayHaveActed: false });
  assert.equal((await claim()).filter(({ id }) => id === run.id).length, 0);
  const [kept] = await runsOf(store, row);
  assert.deepEqual([kept?.status, kept?.error, kept?.attempts], [null, 'Not now.', 1]);
  await runs.end(run, ok);
});

test('a run costs what its agent spent in all its attempts, and its event says so', async () => {
  const row = await made(await agent(), { deliverTo: 'webhook' });
  const ledger = store.ledgerOf('here');
  const call = (costUsd: string | null) =>
    ledger.close(finishedCall({ agentId: row.agentId, accountId }, scheduleId(), { costUsd, startedAt: soon(1) }));
  await ledger.close(finishedCall({ agentId: row.agentId, accountId }, scheduleId(), { costUsd: '9' }));
  await fire();
  const run = await claimOf(row);
  await call('0.25');
  await runs.postpone(run, { afterMs: 0, reason: 'x', mayHaveActed: true });
  const again = await claimOf(row);
  assert.equal(again.mayHaveActed, true);
  await execute(
    database.connectionString,
    `update llm_calls set started_at = started_at - interval '1 hour' where agent_id = '${row.agentId}'`,
  );
  await call('0.5');
  await call(null);
  await runs.end(again, { ...ok, answer: 'x'.repeat(20_000) });
  const [ended] = await runsOf(store, row);
  assert.deepEqual([ended?.status, ended?.cost, ended?.attempts], ['ok', '0.75', 2]);
  assert.equal(ended?.answerPreview?.length, 1_000);
  const ran = (await events(row.agentId)).find(({ type }) => type === 'schedule.ran');
  assert.deepEqual([ran?.data['cost'], ran?.data['attempts'], ran?.data['deliver']], ['0.75', 2, 'webhook']);
  assert.equal(String(ran?.data['answer']).length, 16_384);
});

test('an answer is in its conversation with the end of the run, or the run has failed', async () => {
  const agentId = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [agentId]);
  await store.relay.receive(lease!, [inbound()]);
  const row = await made(agentId, { deliverTo: 'channel', deliverChannel: 'telegram', deliverConversation: 'c1' });
  await fire();
  await runs.end(await claimOf(row), ok);
  const parts = await store.relay.partsToSend([lease!], 9);
  assert.deepEqual(
    parts.map(({ content }) => content),
    [{ kind: 'markdown', markdown: ok.answer }],
  );
  const ran = (await events(agentId)).find(({ type }) => type === 'schedule.ran');
  assert.equal(ran?.data['answer'], undefined);
  await store.database.transaction((trx) => deleteChannel(trx, { accountId, agentId, channel: 'telegram' }));
  await changeSchedule(store, row, { nextRunAt: soon(-1_000) });
  await fire();
  await runs.end(await claimOf(row), ok);
  const [failed] = await runsOf(store, row);
  assert.equal(failed?.status, 'failed');
  assert.match(failed?.error ?? '', /conversation that the answer goes to is not there/);
  assert.equal(failed?.answerPreview, ok.answer);
});

test('a schedule that is removed takes its run with it, and one that is disabled the run that waits', async () => {
  const gone = await made(await agent());
  const off = await made(await agent());
  await fire();
  const run = await claimOf(gone);
  await store.database.transaction((trx) => deleteSchedule(trx, gone.id));
  assert.equal((await runs.renew([run], 30_000)).size, 0);
  assert.equal(await runs.end(run, ok), false);
  await store.database.transaction((trx) => skipWaitingRun(trx, off.id, 'Off.'));
  const [ended] = await runsOf(store, off);
  assert.ok(ended?.status === 'skipped' || ended?.status === 'ok', String(ended?.status));
});

test('old runs are deleted, and one that nobody began for long is missed', async () => {
  const row = await made(await agent(), { ...inTheFuture });
  for (let n = 0; n < 6; n += 1) {
    await requestRun(store, row);
    await runs.end(await claimOf(row), ok);
  }
  const waiting = await made(await agent());
  await fire();
  await execute(
    database.connectionString,
    `update work set due_at = due_at - interval '2 days' where id in (select id from schedule_runs where schedule_id = '${waiting.id}')`,
  );
  await runs.tidy({ ...defaultScheduleBounds, kept: 4, maxAgeMs: dayMs });
  assert.equal((await runsOf(store, row)).length, 4);
  const [missed] = await runsOf(store, waiting);
  assert.deepEqual([missed?.status, missed?.error], ['missed', 'The run could not begin within 24 hours.']);
  assert.equal((await events(waiting.agentId)).at(-1)?.type, 'schedule.missed');
});

test('the clock goes ahead by a day, and back: each time has one run, and no schedule falls silent', async () => {
  const daily = await made(await agent(), { cron: '0 0 * * *', nextRunAt: soon(dayMs - minuteMs) });
  const quarterly = await made(await agent(), {
    every: '15m',
    anchor: new Date(),
    nextRunAt: soon(15 * minuteMs),
  });
  const replan = () => replanSchedules(store.database);
  assert.equal(await replan(), 0, 'a clock that stands right changes nothing');
  await setAhead(dayMs);
  await fire();
  assert.deepEqual(await statuses(daily), [null]);
  assert.deepEqual(await statuses(quarterly), ['missed', null]);
  const run = await claimOf(daily);
  const late = (await readSchedule(store, quarterly))!.nextRunAt!;
  assert.ok(late.getTime() > Date.now() + dayMs);
  await setAhead(0);
  assert.equal((await claim()).filter(({ id }) => id === run.id).length, 1, "a claim from the future is nobody's");
  assert.ok((await replan()) >= 2);
  const soonAgain = (await readSchedule(store, quarterly))!.nextRunAt!;
  assert.ok(soonAgain.getTime() <= Date.now() + 15 * minuteMs);
  const next = (await readSchedule(store, daily))!.nextRunAt!;
  assert.ok(!(await runsOf(store, daily)).some(({ scheduledFor }) => scheduledFor.getTime() === next.getTime()));
  assert.equal(await replan(), 0);
});

test('an agent that is deleted fires nothing more', async () => {
  const row = await made(await agent(), inTheFuture);
  await changeSchedule(store, row, { nextRunAt: soon(-1) });
  await execute(database.connectionString, `update agents set desired = 'deleted' where id = '${row.agentId}'`);
  await fire();
  const rows = await execute(database.connectionString, `select from schedule_runs where schedule_id = '${row.id}'`);
  assert.equal(rows.length, 0);
  assert.deepEqual(await store.database.repeatable((db) => schedulesOf(db, accountId, row.agentId)), []);
});
