import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlannedSettings, SchedulePlace, ScheduleRow } from '@lodge/ports';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { planned, scheduleId } from '../testing/schedule-fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { store } = await testStore();
const accountId = await firstAccount(store.apiKeys);
const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const types = async (agentId: string): Promise<readonly string[]> =>
  (
    await store.events.page({
      accountId,
      agentId,
      limit: 100,
      direction: 'asc',
      types: ['schedule.created', 'schedule.updated', 'schedule.deleted', 'schedule.run_asked'],
    })
  ).map(({ type }) => type);

async function made(agentId: string, given: Partial<PlannedSettings> = {}): Promise<ScheduleRow> {
  const row = await store.schedules.create({ accountId, agentId, scheduleId: scheduleId() }, () => planned(given), 100);
  assert.ok(typeof row === 'object');
  return row;
}
const placeOf = ({ agentId, id }: ScheduleRow): SchedulePlace => ({ accountId, agentId, scheduleId: id });

test('a schedule is made, read, listed, changed and removed, each with its event', async () => {
  const agentId = await agent();
  const row = await made(agentId, { name: 'Report', cron: null, every: '15m', wake: false, conversation: 'c' });
  assert.deepEqual([row.name, row.every, row.cron, row.wake, row.lastRun], ['Report', '15m', null, false, null]);
  assert.deepEqual(await store.schedules.find(placeOf(row)), row);
  assert.deepEqual(
    (await store.schedules.list(accountId, agentId)).map(({ id }) => id),
    [row.id],
  );
  const changed = await store.schedules.update(placeOf(row), (before) => ({ ...before, name: 'Other' }));
  assert.ok(changed !== null && typeof changed === 'object');
  assert.deepEqual([changed.name, changed.every], ['Other', '15m']);
  assert.equal(await store.schedules.remove(placeOf(row)), true);
  assert.equal(await store.schedules.remove(placeOf(row)), false);
  assert.deepEqual(await types(agentId), ['schedule.created', 'schedule.updated', 'schedule.deleted']);
});

test("another account's schedule is not there, and neither is another agent's", async () => {
  const row = await made(await agent());
  for (const place of [
    { ...placeOf(row), accountId: 'other' },
    { ...placeOf(row), agentId: await agent() },
    { ...placeOf(row), scheduleId: 'x\0y' },
  ]) {
    assert.equal(await store.schedules.find(place), null);
    assert.equal(await store.schedules.update(place, (before) => before), null);
    assert.equal(await store.schedules.ask(place, scheduleId()), null);
    assert.deepEqual(await store.schedules.runs(place, { limit: 10 }), []);
    assert.equal(await store.schedules.remove(place), false);
  }
  const alien = { accountId: 'other', agentId: row.agentId, scheduleId: scheduleId() };
  assert.equal(await store.schedules.create(alien, () => planned(), 100), 'no_agent');
});

test('of many that are made at once an agent has the most that it may', async () => {
  const agentId = await agent();
  const results = await Promise.all(
    Array.from({ length: 6 }, () =>
      store.schedules.create({ accountId, agentId, scheduleId: scheduleId() }, () => planned(), 4),
    ),
  );
  assert.equal(results.filter((result) => result === 'full').length, 2);
  assert.equal((await store.schedules.list(accountId, agentId)).length, 4);
});

test('a run that somebody asks for is one: another is refused until it is over', async () => {
  const row = await made(await agent(), { enabled: false, nextRunAt: null });
  const runId = scheduleId();
  const run = await store.schedules.ask(placeOf(row), runId);
  assert.ok(run !== null && run !== 'running');
  assert.deepEqual([run.id, run.isManual, run.status, run.startedAt], [runId, true, null, null]);
  assert.equal(await store.schedules.ask(placeOf(row), scheduleId()), 'running');
  assert.deepEqual((await store.schedules.find(placeOf(row)))?.lastRun, run);
});

test('an answer goes only where somebody is whom the channel lets in', async () => {
  const agentId = await agentWithChannel(store, accountId);
  const deliver = { to: 'channel', channel: 'telegram', conversation: 'c1' } as const;
  const create = () =>
    store.schedules.create({ accountId, agentId, scheduleId: scheduleId() }, () => planned({ deliver }), 100);
  assert.equal(await create(), 'no_conversation');
  const [lease] = await leasesOf(store, [agentId]);
  await store.relay.receive(lease!, [inbound()]);
  const row = await create();
  assert.ok(typeof row === 'object');
  const access = {
    mode: 'allowlist',
    allowFrom: [],
    groups: { mode: 'disabled', allow: [], requireMention: true },
  } as const;
  await store.channels.put({
    accountId,
    agentId,
    channel: 'telegram',
    enabled: true,
    access: { ...access, perSenderHourly: 9 },
    credentials: [],
  });
  assert.equal(await create(), 'not_allowed');
  const other = await store.schedules.update(placeOf(row), (before) => ({ ...before, name: 'kept' }));
  assert.ok(other !== null && typeof other === 'object', 'a delivery that does not change is not looked at');
});
