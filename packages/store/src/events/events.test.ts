import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { publicEvents } from '@lodge/domain';
import type { EventType } from '@lodge/domain';
import type { EventBounds, EventQuery } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { pruneEvents } from './prune.ts';
import { logPage } from '../logs/index.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const types: readonly EventType[] = [...publicEvents.keys()];
const page = (query: Partial<EventQuery> = {}) =>
  store.events.page({ accountId, types, direction: 'asc', limit: 100, ...query });
const prune = (bounds: EventBounds) => store.database.repeatable((db) => pruneEvents(db, bounds));
const create = async () => (await store.agents.create(newAgent(accountId), admitAll)).id;

test('what happened to an agent is read by agent, type and time, in order, without what is not public', async () => {
  const [one, two] = [await create(), await create()];
  await store.agents.lease(one, 'h', 60_000);
  const data = { cause: 'idle', duration_ms: 7 } as const;
  await store.agents.begin(one, 'idle', () => ({ do: 'begin', kind: 'pause' }));
  await store.agents.observe(one, 2, 'h', { status: 'paused', operation: null, event: { type: 'agent.paused', data } });
  const listed = await page({ agentId: one });
  assert.deepEqual(
    listed.map(({ type }) => type),
    ['agent.created', 'agent.paused'],
  );
  assert.deepEqual([listed[1]!.data, listed[1]!.level, listed[1]!.by], [data, 'info', null]);
  assert.deepEqual(await page({ types: ['agent.paused'] }), [listed[1]]);
  assert.deepEqual(await page({ types: ['agent.paused'], agentId: two }), []);
  const all = await page();
  assert.deepEqual(await page({ direction: 'desc' }), all.toReversed());
  const paused = listed[1]!;
  assert.deepEqual(
    await page({ since: paused.at }),
    all.filter(({ at }) => at >= paused.at),
  );
  assert.deepEqual(
    await page({ until: paused.at, direction: 'desc' }),
    all.filter(({ at }) => at < paused.at).toReversed(),
  );
  assert.deepEqual(await page({ from: paused.id, direction: 'desc', limit: 1 }), [
    all.findLast(({ id }) => id < paused.id),
  ]);
  assert.deepEqual(await page({ accountId: 'other' }), []);
  const [line] = await store.database.repeatable((db) => logPage(db, { agentId: one, limit: 9, direction: 'desc' }));
  assert.equal(line!.message, 'Paused because nobody used it (7 ms).');
});

test('a page is whole where many events that are not wanted lie between', async () => {
  await execute(
    database.connectionString,
    `insert into accounts (id, name) values ('busy', 'm');
     insert into events (account_id, type, level, data, created_at)
       select 'busy', case when n % 50 = 0 then 'agent.created' when n = 111 then 'agent.paused' else 'agent.root_used' end, 1, '{}', now()
       from generate_series(1, 500) n order by n`,
  );
  for (const direction of ['asc', 'desc'] as const) {
    const seen: EventType[] = [];
    let from: bigint | undefined;
    for (;;) {
      const rows = await page({ accountId: 'busy', direction, limit: 4, ...(from !== undefined && { from }) });
      seen.push(...rows.map(({ type }) => type as EventType));
      from = rows.at(-1)?.id;
      if (from === undefined) break;
    }
    const made = (count: number): EventType[] => Array.from({ length: count }, () => 'agent.created');
    const expected: EventType[] = [...made(2), 'agent.paused', ...made(8)];
    assert.deepEqual(seen, direction === 'asc' ? expected : expected.toReversed());
  }
});

test('an event is heard in every process, by its account', async () => {
  const heard: (string | null)[] = [];
  const stop = other.events.onAppend((account) => heard.push(account));
  await create();
  for (let n = 0; n < 500 && heard.length === 0; n += 1) await sleep(10);
  stop();
  assert.deepEqual(heard, [accountId]);
});

test('what is over the bounds goes, oldest first, in steps; other accounts keep theirs', async () => {
  await execute(
    database.connectionString,
    `insert into accounts (id, name) values ('many', 'm');
     insert into events (account_id, type, level, data, created_at)
       select 'many', 'agent.created', 1, '{}', now() - interval '1 hour' * (5000 - n) from generate_series(1, 5000) n`,
  );
  const left = async () =>
    (
      await execute<{ n: number }>(
        database.connectionString,
        `select count(*)::int as n from events where account_id = 'many'`,
      )
    )[0]!.n;
  const before = await page({ limit: 1000 });
  const newest = await page({ accountId: 'many', direction: 'desc', limit: 1 });
  await prune({ maxEvents: 4_500, maxAgeMs: 365 * 86_400_000 });
  assert.equal(await left(), 4_500);
  await prune({ maxEvents: 4_500, maxAgeMs: 10.5 * 3_600_000 });
  assert.equal(await left(), 11);
  assert.deepEqual(await page({ accountId: 'many', direction: 'desc', limit: 1 }), newest);
  assert.deepEqual(await page({ limit: 1000 }), before);
});

test('what agents do by themselves pushes out nothing that people did, and little of other agents', async () => {
  const [flood, calm] = [newAgent('loud'), newAgent('loud')];
  await execute(database.connectionString, `insert into accounts (id, name) values ('loud', 'm')`);
  for (const agent of [flood, calm]) await store.agents.create(agent, admitAll);
  const write = (count: number, agent: string, actor: string) =>
    execute(
      database.connectionString,
      `insert into events (account_id, agent_id, type, level, data, actor_kind, actor_id, created_at)
       select 'loud', '${agent}', 'schedule.created', 1, '{}', ${actor}, now() from generate_series(1, ${count}) n`,
    );
  await write(5, flood.id, `'account', 'person'`);
  await write(5, calm.id, 'null, null');
  await write(30, flood.id, `'api_key', 'key'`);
  await write(6_000, flood.id, 'null, null');
  await write(120, flood.id, `'api_key', 'key'`);
  await prune({ maxEvents: 100, maxAgeMs: 365 * 86_400_000 });
  const left = await execute(
    database.connectionString,
    `select agent_id = '${flood.id}' as is_flood, actor_kind, count(*)::int as n from events
     where account_id = 'loud' and type = 'schedule.created' group by 1, 2 order by 1, 2`,
  );
  assert.deepEqual(left, [
    { is_flood: false, actor_kind: null, n: 5 },
    { is_flood: true, actor_kind: 'account', n: 5 },
    { is_flood: true, actor_kind: 'api_key', n: 100 },
    { is_flood: true, actor_kind: null, n: 10 },
  ]);
});

test('a key that floods the audit log pushes out its own events, and no other key’s', async () => {
  await execute(
    database.connectionString,
    `insert into accounts (id, name) values ('leak', 'm');
     insert into events (account_id, type, level, data, actor_kind, actor_id, created_at)
       select 'leak', 'agent.created', 1, '{}', 'api_key', case when n <= 20 then 'calm' when n <= 60 then 'busy' else 'leaked' end, now()
       from generate_series(1, 5000) n`,
  );
  await prune({ maxEvents: 100, maxAgeMs: 365 * 86_400_000 });
  const left = await execute(
    database.connectionString,
    `select actor_id, count(*)::int as n from events where account_id = 'leak' group by 1 order by 1`,
  );
  assert.deepEqual(left, [
    { actor_id: 'busy', n: 40 },
    { actor_id: 'calm', n: 20 },
    { actor_id: 'leaked', n: 40 },
  ]);
});
