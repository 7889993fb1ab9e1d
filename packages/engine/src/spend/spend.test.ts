import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { SpendLimit } from '@lodge/domain';
import type { CallRefusal, LlmCall, OpenCall } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import {
  admitAll,
  finishedCall,
  firstAccount,
  newAgent,
  openCall,
  silent,
} from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { updateAccount } from '@lodge/store/accounts';
import { logPage } from '@lodge/store/logs';
import { openTestStore } from '../../../store/src/testing/agents-fixture.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);
const ledger = store.ledgerOf('here');

const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const query = <Row extends object>(text: string): Promise<readonly Row[]> => execute(database.connectionString, text);

/** Inserts rows of ended calls in one statement: agent, time, cost. */
async function ended(...calls: readonly (readonly [string, string, string | null])[]): Promise<void> {
  const rows = calls.map(
    ([agentId, at, cost]) => `('${randomUUID()}', '${agentId}', '${accountId}', 'x', 'm', '${at}', 1, 'ok', ${cost})`,
  );
  await query(
    `insert into llm_calls (id, agent_id, account_id, provider, model, started_at, duration_ms, outcome, cost_usd)
     values ${rows.join()}`,
  );
}

const windowsOf = (id: string) =>
  query<{ period: string; day: string; usd: string }>(
    `select period, to_char(starts at time zone 'UTC', 'YYYY-MM-DD') as day, trim_scale(spent_usd)::text as usd
     from spend_windows where id = '${id}' order by period`,
  );

test('what is spent in the day and the month that are now is the sum of their rows, to the last decimal', async () => {
  const one = await agent();
  const two = await agent();
  await ended([one, '2026-11-20T23:59:59.999Z', '0.1'], [one, '2026-11-21T00:00:00Z', '0.2']);
  await ended(
    [one, '2026-11-21T10:00:00Z', '0.000000001'],
    [two, '2026-11-21T10:00:00Z', '5'],
    [one, '2026-11-21', null],
  );
  assert.deepEqual(await windowsOf(one), [
    { period: 'day', day: '2026-11-21', usd: '0.200000001' },
    { period: 'month', day: '2026-11-01', usd: '0.300000001' },
  ]);
  // A call that began yesterday and ends late counts where it began.
  await ended([one, '2026-11-20T23:00:00Z', '1']);
  assert.deepEqual(await windowsOf(one), [
    { period: 'day', day: '2026-11-21', usd: '0.200000001' },
    { period: 'month', day: '2026-11-01', usd: '1.300000001' },
  ]);
  await ended([one, '2026-12-01T00:00:00Z', '0.5']);
  assert.deepEqual(await windowsOf(one), [
    { period: 'day', day: '2026-12-01', usd: '0.5' },
    { period: 'month', day: '2026-12-01', usd: '0.5' },
  ]);
  assert.deepEqual(await store.spend.ofAccount(accountId, new Date('2026-12-01T12:00:00Z')), {
    limit: null,
    daySpentUsd: '0.5',
    monthSpentUsd: '0.5',
  });
});

test('calls of one account that end at once are all in the sum', async () => {
  const agents = await Promise.all(Array.from({ length: 5 }, agent));
  const before = (await store.spend.ofAccount(accountId, new Date('2027-02-03Z'))).daySpentUsd;
  assert.equal(before, '0');
  await Promise.all(Array.from({ length: 50 }, (_, n) => ended([agents[n % 5]!, '2027-02-03T01:00:00Z', '0.01'])));
  assert.equal((await store.spend.ofAccount(accountId, new Date('2027-02-03Z'))).daySpentUsd, '0.5');
  assert.deepEqual((await windowsOf(agents[0]!))[0], { period: 'day', day: '2027-02-03', usd: '0.1' });
});

const limitOf = (
  dailyUsd: string | null,
  monthlyUsd: string | null = null,
  action: SpendLimit['action'] = 'block',
) => ({
  dailyUsd,
  monthlyUsd,
  action,
});

const limited = async (spendLimit: SpendLimit): Promise<string> =>
  (await store.agents.create(newAgent(accountId, { spendLimit }), admitAll)).id;

const limitAccount = (limit: SpendLimit | null): Promise<unknown> =>
  store.database.transaction((trx) => updateAccount(trx, accountId, { spendLimit: limit && JSON.stringify(limit) }));

const callOf = (agentId: string, at: string, costUsd: string | null): OpenCall => ({
  ...openCall({ agentId, accountId }, randomUUID()),
  startedAt: new Date(at),
  estimate: { inputTokens: 1, outputTokens: 1, costUsd },
});

const closed = ({ id, startedAt, ...agent }: OpenCall, costUsd: string | null): LlmCall =>
  finishedCall({ agentId: agent.agentId, accountId }, id, { startedAt, costUsd });

/** Makes one call from beginning to end and returns the reason for its refusal. */
async function spend(agentId: string, at: string, estimateUsd: string | null, costUsd = estimateUsd) {
  const call = callOf(agentId, at, estimateUsd);
  const refusal = await ledger.open(call);
  if (refusal !== null) return refusal;
  await ledger.close(closed(call, costUsd));
  await store.spend.note(closed(call, costUsd));
  return null;
}

const warnings = async (agentId: string): Promise<readonly string[]> => {
  const entries = await store.database.repeatable((db) =>
    logPage(db, { agentId, limit: 100, direction: 'asc', minLevel: 'warn' }),
  );
  return entries.map(({ message }) => message);
};

test('how an agent stands is its own windows, and each limit that holds for it', async () => {
  const id = await limited(limitOf('1', '5'));
  assert.equal(await spend(id, '2027-09-10T12:00:00Z', '0.25'), null);
  assert.equal(await spend(id, '2027-09-09T12:00:00Z', '0.5'), null);
  const { limits, ...spent } = await store.spend.ofAgent(id, new Date('2027-09-10T13:00:00Z'));
  assert.deepEqual(spent, { daySpentUsd: '0.25', monthSpentUsd: '0.75' });
  assert.deepEqual(
    limits.map(({ scope, period, limitUsd, spentUsd }) => [scope, period, limitUsd, Number(spentUsd)]),
    [
      ['agent', 'day', '1', 0.25],
      ['agent', 'month', '5', 0.75],
    ],
  );
  const nobody = await store.spend.ofAgent('nobody', new Date());
  assert.deepEqual(nobody, { daySpentUsd: '0', monthSpentUsd: '0', limits: [] });
});

/** Calls that a test left open. They count in their account. */
const underWay: OpenCall[] = [];

const secondsTo = (at: string, end: string): number => (Date.parse(end) - Date.parse(at)) / 1000;
const noon = '2027-05-10T12:00:00Z';

test('50 calls at once against a limit that about 10 fit in: no more go out, and it is passed by no estimate', async () => {
  const id = await limited(limitOf('1'));
  const calls = Array.from({ length: 50 }, () => callOf(id, noon, '0.1'));
  const answers = await Promise.all(calls.map(async (call) => ({ call, refusal: await ledger.open(call) })));
  const out = answers.filter(({ refusal }) => refusal === null);
  assert.equal(out.length, 10);
  for (const { refusal } of answers)
    if (refusal) assert.deepEqual([refusal.code, refusal.ends], ['spend_limit_exceeded', undefined]);
  // They cost less than estimated, so there is room for more.
  await Promise.all(out.map(({ call }) => ledger.close(closed(call, '0.06'))));
  underWay.push(...Array.from({ length: 50 }, () => callOf(id, noon, '0.1')));
  const more = await Promise.all(underWay.map((call) => ledger.open(call)));
  assert.equal(more.filter((refusal) => refusal === null).length, 4);
});

test('agents of one account run through its limit no more than one would', async (t) => {
  await Promise.all(underWay.splice(0).map((call) => ledger.close(closed(call, null))));
  await limitAccount(limitOf(null, '1'));
  t.after(() => limitAccount(null));
  const ids = await Promise.all(Array.from({ length: 5 }, agent));
  const at = '2027-06-10T12:00:00Z';
  const calls = Array.from({ length: 50 }, (_, n) => callOf(ids[n % 5]!, at, '0.1'));
  const refusals = await Promise.all(calls.map((call) => ledger.open(call)));
  assert.equal(refusals.filter((refusal) => refusal === null).length, 10);
  const { limit } = await store.spend.ofAccount(accountId, new Date(at));
  assert.deepEqual(limit, limitOf(null, '1'));
});

test('a call that is alone is held to what is spent, however much it may come to', async () => {
  const id = await limited(limitOf('1'));
  assert.equal(await spend(id, noon, '64', '0.4'), null);
  assert.equal(await spend(id, noon, '64', '0.7'), null);
  assert.equal((await spend(id, noon, '0.001'))?.code, 'spend_limit_exceeded');
});

test('a reached limit refuses until the window ends, in the day and in the month, and says when', async () => {
  const id = await limited(limitOf('1', '2.5'));
  for (const day of ['01', '02']) {
    const late = `2027-07-${day}T23:59:00Z`;
    assert.equal(await spend(id, late, '1'), null);
    const refused = (await spend(id, late, '0.1'))!;
    assert.deepEqual([refused.code, refused.ends, refused.retryAfterSeconds], ['spend_limit_exceeded', 'turn', 60]);
    assert.match(refused.message, /agent's spend limit of \$1 a day is reached.*until 2027-07-0[23]T00:00:00Z/);
  }
  assert.equal(await spend(id, '2027-07-03T00:00:00Z', '0.5'), null);
  const month = (await spend(id, '2027-07-03T00:00:01Z', '0.1'))!;
  assert.equal(month.retryAfterSeconds, secondsTo('2027-07-03T00:00:01Z', '2027-08-01T00:00:00Z'));
  assert.equal((await spend(id, '2027-07-31T23:59:59.999Z', '0.1'))?.code, 'spend_limit_exceeded');
  assert.equal(await spend(id, '2027-08-01T00:00:00Z', '0.1'), null);
});

test('a limit that is raised, or lifted, works with the next call; so does one that is lowered', async () => {
  const id = await limited(limitOf('1'));
  const set = (spendLimit: SpendLimit | null) => store.agents.change(accountId, id, () => ({ spendLimit }));
  const refused = async (): Promise<CallRefusal['code'] | undefined> => (await spend(id, noon, '0.1'))?.code;
  await spend(id, noon, '1');
  assert.equal(await refused(), 'spend_limit_exceeded');
  await set(limitOf('1.05'));
  assert.equal(await refused(), undefined);
  assert.equal(await refused(), 'spend_limit_exceeded');
  await set(null);
  assert.equal(await refused(), undefined);
  await set(limitOf('0.5'));
  assert.equal(await refused(), 'spend_limit_exceeded');
});

test('a call without a known price costs nothing, and is refused from the moment on at which a limit holds', async () => {
  const id = await limited(limitOf('1'));
  const set = (spendLimit: SpendLimit | null) => store.agents.change(accountId, id, () => ({ spendLimit }));
  assert.match((await spend(id, noon, null))!.message, /no known price/);
  await set(null);
  assert.equal(await spend(id, noon, null), null);
  await set(limitOf('1'));
  assert.match((await spend(id, noon, null))!.message, /no known price/);
  assert.equal(await spend(id, noon, '1'), null);
});

test("the deployment's limit is that of whom nobody else limits", async (t) => {
  const limits = { agent: limitOf('1'), account: null };
  const other = await openTestStore({ ...database, log: silent, spendDefaults: limits });
  t.after(() => other.close());
  const [plain, own] = [await agent(), await limited(limitOf('9'))];
  const opened = async (id: string) => {
    const call = callOf(id, noon, '2');
    const refusal = await other.ledgerOf('other').open(call);
    if (refusal === null) await other.ledgerOf('other').close(closed(call, '2'));
    return refusal?.code;
  };
  assert.deepEqual([await opened(plain), await opened(plain)], [undefined, 'spend_limit_exceeded']);
  assert.deepEqual([await opened(own), await opened(own)], [undefined, undefined]);
});

test('four fifths and the end of a limit are told once a window, and again for another limit', async () => {
  const id = await limited(limitOf('1'));
  const reached = (usd: string, end: string) =>
    `The agent's spend limit of $${usd} a day is reached. Model calls are refused until ${end}, or until it is raised.`;
  await spend(id, noon, '0.79');
  assert.deepEqual(await warnings(id), []);
  await spend(id, noon, '0.01');
  await spend(id, noon, '0.01');
  const near = "The agent's spend limit of $1 a day is used up by four fifths.";
  assert.deepEqual(await warnings(id), [near]);
  await Promise.all(Array.from({ length: 5 }, () => spend(id, noon, '0.2')));
  await spend(id, noon, '0.2');
  await spend(id, noon, '0.2');
  const expected = [near, reached('1', '2027-05-11T00:00:00Z')];
  assert.deepEqual(await warnings(id), expected);
  await store.agents.change(accountId, id, () => ({ spendLimit: limitOf('0.5') }));
  await spend(id, noon, '0.2');
  expected.push(reached('0.5', '2027-05-11T00:00:00Z'));
  assert.deepEqual(await warnings(id), expected);
  await spend(id, '2027-05-12T12:00:00Z', '0.5');
  assert.deepEqual(await warnings(id), [...expected, reached('0.5', '2027-05-13T00:00:00Z')]);
});

test('an agent that its limit puts to sleep may not be woken until the window ends or the limit is raised', async () => {
  const id = await limited(limitOf('1', null, 'pause'));
  const asleep = (at: string) => store.spend.asleep(id, new Date(at));
  assert.equal(await asleep(noon), null);
  await spend(id, noon, '1');
  assert.equal((await spend(id, noon, '1'))?.ends, 'sleep');
  assert.equal((await asleep(noon))?.retryAfterSeconds, 12 * 3600);
  assert.equal(await asleep('2027-05-11T00:00:00Z'), null);
  await store.agents.change(accountId, id, () => ({ spendLimit: limitOf('2', null, 'pause') }));
  assert.equal(await asleep(noon), null);
  await store.agents.change(accountId, id, () => ({ spendLimit: limitOf('1') }));
  assert.equal(await asleep(noon), null);
});
