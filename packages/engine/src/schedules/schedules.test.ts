/** Schedules on a real database, whose clock the test sets, and a fake host. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { Refusal, makeAgentId, maxSchedules } from '@lodge/domain';
import type { AgentRow } from '@lodge/store/agents';
import type { ScheduleRow, ScheduleRunRow } from '@lodge/store/schedules';
import { jumpingClock } from '@lodge/testkit/jumping-clock';
import { execute } from '@lodge/testkit/postgres';
import { FakeHost } from '@lodge/vm/fake';
import { FakeGateway } from '../../../testkit/src/plane/fake-gateway.ts';
import { never, running, startPlane, until, World } from '../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../testkit/src/plane/plane.ts';
import { RelayHand } from '../../../testkit/src/plane/relay-hand.ts';
import { makeSchedule, placeOf, readSchedule } from '../../../store/src/testing/schedule-fixture.ts';
import { createToyRuntime } from '../../../testkit/src/plane/toy-runtime/toy-runtime.ts';
import type { ScheduleInput } from './plans.ts';
import { logPage } from '@lodge/store/logs';

const gateway = new FakeGateway();
const bounds = { replanEveryMs: 100, waitsMs: [50, 50, 50] };
const work = { lookEveryMs: 50, leaseMs: 1_500, drainMs: 50 };
const host = new FakeHost();
const dayMs = 24 * 60 * 60_000;

let world: World;
let plane: Plane;
let agent: AgentRow;
let setAhead: (ms: number) => Promise<void>;

const plain = () =>
  startPlane(world, host, {
    gateway,
    runtimes: new Map([['runtime_a', createToyRuntime(1)]]),
    channels: {},
    schedules: { bounds },
    work,
    spend: world.store.spend,
    maxRunningPerAccount: 2,
  });

before(async () => {
  world = await World.open();
  setAhead = await jumpingClock(world.database);
  plane = await plain();
  agent = await running(world, plane);
});
after(async () => {
  await plane?.end();
  await world?.close();
});
beforeEach(() => {
  gateway.turns.length = 0;
  gateway.steps = [{ text: 'All is well.' }];
  gateway.refusal = null;
});

const id = (): string => makeAgentId(randomInt);
const make = (given: ScheduleInput = {}, agentId = agent.id): Promise<ScheduleRow> => {
  const timing = given.cron ?? given.at ?? given.every;
  const place = { accountId: world.accountId, agentId, scheduleId: id() };
  const input = { name: 'Report', prompt: 'Write it.', ...given, ...(timing === undefined && { cron: '0 9 * * *' }) };
  return plane.schedules.create(place, input);
};
const runNow = async (row: ScheduleRow): Promise<ScheduleRunRow> => {
  const run = await plane.schedules.run(placeOf(row), id());
  return ended(row, run.id);
};
const runsOf = (row: ScheduleRow) => plane.schedules.runs(placeOf(row), { limit: 100 });
async function ended(row: ScheduleRow, runId?: string): Promise<ScheduleRunRow> {
  let found: ScheduleRunRow | undefined;
  await until('the run is over', async () => {
    const runs = await runsOf(row);
    found = runs.find((run) => run.status !== null && (runId === undefined || run.id === runId));
    return found !== undefined;
  });
  return found!;
}
const said = (turn = 0): string => {
  const [message] = gateway.turns[turn]!.body['messages'] as readonly { readonly content: string }[];
  return message!.content;
};
const sessionOf = (turn: number): string => gateway.turns[turn]!.endpoint.headers['x-toy-session']!;
const act = async (verb: 'pause' | 'stop' | 'start') => {
  await plane.agents.act(world.accountId, agent.id, verb);
  await plane.agents.awaitVerb(world.accountId, agent.id, verb, 10_000, never);
};
const refusedWith = (code: string, words: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.code === code && words.test(error.message);

test('a time that comes is a turn in a conversation of the schedule, and its answer is kept', async () => {
  const row = await make({ at: new Date(Date.now() + 300) });
  const run = await ended(row);
  assert.deepEqual([run.status, run.answerPreview, run.error, run.attempts], ['ok', 'All is well.', null, 1]);
  assert.match(
    said(),
    /^\[scheduled run \{"schedule":"Report","scheduled_for":"[^"]+","local_time":"[^"]+ UTC"\}\]\nWrite it\.$/,
  );
  assert.equal(sessionOf(0), `schedule:${row.id}`);
  const kept = await plane.schedules.get(placeOf(row));
  assert.deepEqual([kept.nextRunAt, kept.lastRun?.id], [null, run.id]);
  const log = await world.store.database.repeatable((db) =>
    logPage(db, { agentId: agent.id, limit: 100, direction: 'desc' }),
  );
  assert.ok(log.some(({ source, message }) => source === 'system' && message.startsWith('Schedule "Report" ran (')));
});

test('a run that somebody asks for is told as one, in the conversation that the owner named', async () => {
  await runNow(await make({ conversation: 'mine' }));
  assert.match(said(), /"started_by_hand":true/);
  assert.equal(sessionOf(0), 'mine');
});

test('a run wakes an agent that sleeps, unless its schedule says not to', async () => {
  await act('stop');
  const left = await runNow(await make({ wake: false }));
  assert.deepEqual([left.status, left.startedAt], ['skipped', null]);
  assert.match(left.error!, /wake is false/);
  assert.equal((await world.store.agents.find(agent.id))?.status, 'stopped');
  assert.equal((await runNow(await make())).status, 'ok');
  assert.equal((await runNow(await make({ wake: false }))).status, 'ok');
});

test('an answer goes into a conversation of a channel', async () => {
  const relay = await RelayHand.of(world.store, world.accountId, agent.id);
  const deliver = { to: 'channel', channel: 'telegram', conversation: 'c1' } as const;
  await assert.rejects(make({ deliver }), refusedWith('invalid_request', /^deliver\.conversation is none/));
  await relay.write('/help');
  await relay.answer();
  const row = await make({ deliver });
  await runNow(row);
  assert.deepEqual(await relay.answer(), ['All is well.']);
  const channel = (is: string) =>
    execute(world.database.connectionString, `update channels set ${is} where agent_id = '${agent.id}'`);
  await channel('enabled = false');
  await assert.rejects(make({ deliver }), refusedWith('invalid_request', /^deliver\.conversation/));
  assert.equal((await plane.schedules.update(placeOf(row), { name: 'Kept', deliver })).name, 'Kept');
  await channel('enabled = true');
});

test('what fails is tried again some times, with a word of it, and then has failed', async () => {
  gateway.refusal = { kind: 'turn_failed' };
  const failed = await runNow(await make());
  assert.deepEqual([failed.status, failed.attempts], ['failed', 4]);
  assert.match(failed.error!, /could not finish this turn\. It may have acted before it failed\.$/);
  assert.equal(gateway.turns.length, 4);
  assert.match(said(3), /"attempt":4,"earlier_attempt_may_have_acted":true/);
});

test('what another attempt cannot help has failed at once', async () => {
  gateway.refusal = { kind: 'provider_refused_key' };
  const failed = await runNow(await make());
  assert.deepEqual([failed.status, failed.attempts], ['failed', 1]);
});

test('an agent that its spend limit has put to sleep is not woken, and the run costs what was spent', async () => {
  const row = await make();
  await runNow(row);
  const ledger = world.store.ledgerOf('test');
  const startedAt = new Date();
  await ledger.close({
    id: id(),
    agentId: agent.id,
    accountId: world.accountId,
    provider: 'p',
    model: 'm',
    api: 'openai-completions',
    startedAt,
    durationMs: 1,
    timeToFirstByteMs: 1,
    status: 200,
    outcome: 'ok',
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheWriteLongTokens: null,
    reasoningTokens: null,
    imageTokens: null,
    estimated: false,
    costUsd: '1',
    priceVersion: 'v',
  });
  const spendLimit = { dailyUsd: '0.5', monthlyUsd: null, action: 'pause' } as const;
  await plane.agents.update(world.accountId, agent.id, { spendLimit });
  await act('stop');
  gateway.turns.length = 0;
  const failed = await runNow(row);
  assert.deepEqual([failed.status, failed.attempts], ['failed', 1]);
  assert.match(failed.error!, /limit/);
  assert.equal((await world.store.agents.find(agent.id))?.status, 'stopped');
  await plane.agents.update(world.accountId, agent.id, { spendLimit: null });
  assert.equal((await runNow(row)).status, 'ok');
});

test('a run waits for a place among the running agents of its account, and has failed where none comes', async () => {
  await act('stop');
  const others = [await running(world, plane), await running(world, plane)];
  const failed = await runNow(await make());
  assert.deepEqual([failed.status, failed.attempts], ['failed', 4]);
  for (const other of others) await plane.agents.delete(world.accountId, other.id, never);
  await until('they are gone', async () => (await world.store.agents.find(others[1]!.id)) === null);
  assert.equal((await runNow(await make())).status, 'ok');
});

test('runs of a schedule never overlap', async () => {
  const end = Promise.withResolvers<void>();
  gateway.steps = [{ after: end.promise }, { text: 'one' }];
  const row = await make();
  const run = await plane.schedules.run(placeOf(row), id());
  await until('the turn is under way', () => gateway.turns.length === 1);
  await assert.rejects(plane.schedules.run(placeOf(row), id()), refusedWith('schedule_running', /under way/));
  await plane.schedules.update(placeOf(row), { at: new Date(Date.now() + 200) });
  await until('the time came', async () => (await runsOf(row)).length === 2);
  assert.equal((await runsOf(row))[0]?.status, 'skipped');
  end.resolve();
  assert.equal((await ended(row, run.id)).status, 'ok');
});

test('a schedule that is deleted cuts its run', async () => {
  gateway.steps = [{ text: 'half' }, 'silence'];
  const row = await make();
  await plane.schedules.run(placeOf(row), id());
  await until('the turn is under way', () => gateway.turns.length === 1);
  await plane.schedules.remove(placeOf(row));
  await until('the turn is cut', () => gateway.turns[0]!.signal.aborted);
  await assert.rejects(runsOf(row), refusedWith('schedule_not_found', /no such schedule/));
});

test('a process that dies in a run leaves it to the next one, which says so to the agent', async () => {
  gateway.steps = [{ text: 'half' }, 'silence'];
  const row = await make();
  const { id: runId } = await plane.schedules.run(placeOf(row), id());
  await until('the turn is under way', () => gateway.turns.length === 1);
  plane.kill();
  gateway.steps = [{ text: 'All is well.' }];
  plane = await plain();
  const run = await ended(row, runId);
  assert.deepEqual([run.status, run.attempts], ['ok', 2]);
  assert.match(said(1), /earlier_attempt_may_have_acted/);
});

test('a run that ends every process which takes it up is given up', async () => {
  gateway.steps = ['silence'];
  const row = await make();
  const { id: runId } = await plane.schedules.run(placeOf(row), id());
  for (let kills = 1; kills <= 4; kills += 1) {
    await until('the turn is under way', () => gateway.turns.length === kills);
    plane.kill();
    plane = await plain();
  }
  const run = await ended(row, runId);
  assert.equal(run.status, 'failed');
  assert.match(run.error!, /never came to its end\. It may have acted/);
  assert.equal(gateway.turns.length, 4);
});

test('a process that ends in order puts its run off, and the next one takes it at once', async () => {
  gateway.steps = ['silence'];
  const row = await make();
  const { id: runId } = await plane.schedules.run(placeOf(row), id());
  await until('the turn is under way', () => gateway.turns.length === 1);
  await plane.engine.stop();
  assert.match((await readSchedule(world.store, row))!.lastRun!.error!, /service ended/);
  plane.kill();
  gateway.steps = [{ text: 'All is well.' }];
  plane = await plain();
  assert.equal((await ended(row, runId)).status, 'ok');
});

test('an agent in error is not woken', async () => {
  const row = await make();
  const set = (status: string, reason: string) =>
    execute(
      world.database.connectionString,
      `update agents set status = '${status}', desired = 'running', status_reason_code = ${reason}, status_reason_message = ${reason}, status_reason_at = ${reason === 'null' ? 'null' : 'now()'} where id = '${agent.id}'`,
    );
  await set('error', `'vm_crashed'`);
  const run = await runNow(row);
  assert.equal(run.status, 'failed');
  assert.match(run.error!, /^The agent is in error: vm_crashed/);
  await set('running', 'null');
});

test('a field that is wrong is named, and nothing is made', async () => {
  const place = () => ({ accountId: world.accountId, agentId: agent.id, scheduleId: id() });
  const base = { name: 'S', prompt: 'p' };
  const count = (await plane.schedules.list(world.accountId, agent.id)).length;
  for (const [input, words] of [
    [{}, /^One of cron, every and at is required/],
    [{ cron: '0 9 * * *', every: '1h' }, /^Only one of cron, every and at/],
    [{ cron: 'nonsense' }, /^cron must have five fields/],
    [{ cron: '0 0 31 2 *' }, /^cron never comes/],
    [{ cron: '0 9 * * *', timeZone: 'Mars/Base' }, /^time_zone /],
    [{ every: '30s' }, /^every /],
    [{ at: new Date(Date.now() - 1_000) }, /^at is in the past/],
  ] as const) {
    await assert.rejects(plane.schedules.create(place(), { ...base, ...input }), refusedWith('invalid_request', words));
  }
  assert.equal((await plane.schedules.list(world.accountId, agent.id)).length, count);
  const alien = { ...place(), accountId: 'other' };
  await assert.rejects(plane.schedules.create(alien, { ...base, every: '1h' }), refusedWith('agent_not_found', /./));
});

test('what does not touch the times of a schedule does not move them, and what does counts from now on', async () => {
  const row = await make({ every: '15m' });
  const change = (input: ScheduleInput) => plane.schedules.update(placeOf(row), input);
  assert.deepEqual((await change({ name: 'Other' })).nextRunAt, row.nextRunAt);
  assert.equal((await change({ enabled: false })).nextRunAt, null);
  assert.ok((await change({ enabled: true })).nextRunAt! > row.nextRunAt!);
  const daily = await change({ cron: '0 9 * * *', timeZone: 'Asia/Kolkata' });
  assert.deepEqual(
    [daily.every, daily.cron, daily.nextRunAt!.toISOString().slice(11, 16)],
    [null, '0 9 * * *', '03:30'],
  );
});

test('a schedule is made, changed, run and removed, each with its event; an agent has 100, of many at once too', async () => {
  const { accountId } = world;
  const { id: agentId } = await running(world, plane);
  const row = await make({ every: '15m', wake: false, conversation: 'c' }, agentId);
  assert.deepEqual(await plane.schedules.get(placeOf(row)), row);
  assert.equal((await plane.schedules.update(placeOf(row), { name: 'Other' })).name, 'Other');
  await plane.schedules.run(placeOf(row), id());
  await assert.rejects(plane.schedules.run(placeOf(row), id()), refusedWith('schedule_running', /./));
  await plane.schedules.remove(placeOf(row));
  await assert.rejects(plane.schedules.remove(placeOf(row)), refusedWith('schedule_not_found', /./));
  const types = ['schedule.created', 'schedule.updated', 'schedule.run_asked', 'schedule.deleted'] as const;
  const events = await world.store.events.page({ accountId, agentId, limit: 9, direction: 'asc', types });
  assert.deepEqual(
    events.map(({ type }) => type),
    types,
  );
  const later = { nextRunAt: null, enabled: false };
  for (let n = 2; n < maxSchedules; n += 1) await makeSchedule(world.store, { accountId, agentId }, later);
  const made = await Promise.allSettled(Array.from({ length: 6 }, () => make({ enabled: false }, agentId)));
  assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 2);
  await plane.agents.delete(accountId, agentId, never);
});

test('the clock goes ahead by a day, and back: one run for what passed, none twice, and the schedule goes on', async () => {
  const row = await make({ every: '1h' });
  await setAhead(dayMs);
  const all = () => runsOf(row);
  await until('one run is over', async () => (await all()).some(({ status }) => status === 'ok'));
  assert.deepEqual(new Set((await all()).map(({ status }) => status)), new Set(['ok', 'missed']));
  await setAhead(0);
  await until('it waits no longer than its interval', async () => {
    const { nextRunAt } = await plane.schedules.get(placeOf(row));
    return nextRunAt!.getTime() <= Date.now() + 3_600_000;
  });
  assert.equal((await all()).length, 2);
  assert.equal((await runNow(row)).status, 'ok');
});

test('an agent that is deleted takes its schedules with it', async () => {
  const other = await running(world, plane);
  const row = await make({}, other.id);
  await plane.agents.delete(world.accountId, other.id, never);
  await until('it is gone', async () => (await readSchedule(world.store, row)) === undefined);
  await until('its rows are gone', async () => {
    const rows = await execute(world.database.connectionString, `select from schedules where id = '${row.id}'`);
    return rows.length === 0;
  });
});
