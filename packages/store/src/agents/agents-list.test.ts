import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidCursorError } from '@lodge/ports';
import type { AgentFilter } from './facts.ts';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, event, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store } = await testStore();
const { agents } = store;
await firstAccount(store.database);

let accounts = 0;
async function newAccount(): Promise<string> {
  const id = `account-${(accounts += 1)}`;
  await execute(database.connectionString, `insert into accounts (id, name) values ('${id}', '${id}')`);
  return id;
}

const create = (accountId: string, given = {}) => agents.create(newAgent(accountId, given), admitAll);

async function pages(filter: Omit<AgentFilter, 'cursor'>, between: () => Promise<void>): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await agents.list({ ...filter, ...(cursor === undefined ? {} : { cursor }) });
    assert.ok(page.rows.length <= filter.limit);
    ids.push(...page.rows.map(({ id }) => id));
    cursor = page.nextCursor;
    await between();
  }
  return ids;
}

for (const order of ['asc', 'desc'] as const) {
  test(`pages in ${order} order neither skip nor repeat while agents are created and deleted`, async () => {
    const accountId = await newAccount();
    const there: string[] = [];
    for (let n = 0; n < 12; n += 1) there.push((await create(accountId)).id);
    const doomed = (await create(accountId)).id;
    let left = 8;
    const seen = await pages({ accountId, limit: 3, order }, async () => {
      if (left === 8) {
        await agents.markDeleted(accountId, doomed);
        await agents.lease(doomed, 'h', 60_000);
        await agents.finishDelete(doomed, 'h');
      }
      if (left <= 0) return;
      left -= 2;
      await Promise.all([create(accountId), create(accountId)]);
    });
    assert.equal(new Set(seen).size, seen.length, 'none twice');
    const expected = order === 'asc' ? there : there.toReversed();
    assert.deepEqual(
      seen.filter((id) => there.includes(id)),
      expected,
      'none skipped, in order',
    );
    if (order === 'asc') assert.equal(seen.length, 12 + 8, 'those created on the way come at the end');
  });
}

test('an agent created after the clock was set back still comes after those before it', async () => {
  const accountId = await newAccount();
  const first = await create(accountId);
  await execute(
    database.connectionString,
    `update agents set created_at = now() + interval '1 hour' where id = '${first.id}'`,
  );
  const page = await agents.list({ accountId, limit: 1, order: 'asc' });
  const second = await create(accountId);
  assert.equal(page.nextCursor, null);
  const all = await agents.list({ accountId, limit: 10, order: 'asc' });
  assert.deepEqual(
    all.rows.map(({ id }) => id),
    [first.id, second.id],
  );
  assert.ok(second.createdAt > all.rows[0]!.createdAt);
});

test('the last page has no cursor, even when it is full', async () => {
  const accountId = await newAccount();
  for (let n = 0; n < 4; n += 1) await create(accountId);
  const first = await agents.list({ accountId, limit: 2, order: 'asc' });
  const second = await agents.list({ accountId, limit: 2, order: 'asc', cursor: first.nextCursor! });
  assert.equal(second.rows.length, 2);
  assert.equal(second.nextCursor, null);
});

test('a cursor this store did not make is refused', async () => {
  const accountId = await newAccount();
  await create(accountId);
  await create(accountId);
  const { nextCursor } = await agents.list({ accountId, limit: 1, order: 'asc' });
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  for (const cursor of [
    '',
    'x',
    '0',
    `${nextCursor}=`,
    ` ${nextCursor}`,
    nextCursor!.slice(0, -1),
    encode('1700000000000'),
    encode("1.a' or 'a'='a"),
    encode('01.aaaaaaaaaaaa'),
    encode('999999999999999.aaaaaaaaaaaa\n'),
    encode('-1.aaaaaaaaaaaa'),
    'é'.repeat(500),
  ]) {
    await assert.rejects(agents.list({ accountId, limit: 1, order: 'asc', cursor }), InvalidCursorError, cursor);
  }
  const farAway = agents.list({ accountId, limit: 1, order: 'asc', cursor: encode('253402300799999.aaaaaaaaaaaa') });
  assert.deepEqual((await farAway).rows, [], 'well-formed ones are only positions');
});

test('the name filter finds a substring in any case, and its characters have no other meaning', async () => {
  const accountId = await newAccount();
  for (const name of ['Support Bot', 'ÄRGER', '100% _sure_ \\ok', "Robert'); drop table agents;--"]) {
    await create(accountId, { name });
  }
  const found = async (name: string) =>
    (await agents.list({ accountId, limit: 10, order: 'asc', name })).rows.map((row) => row.name);
  assert.deepEqual(await found('support b'), ['Support Bot']);
  assert.deepEqual(await found('BOT'), ['Support Bot']);
  assert.deepEqual(await found('ärger'), ['ÄRGER']);
  assert.deepEqual(await found('%'), ['100% _sure_ \\ok']);
  assert.deepEqual(await found('_'), ['100% _sure_ \\ok']);
  assert.deepEqual(await found('\\'), ['100% _sure_ \\ok']);
  assert.deepEqual(await found("'); drop"), ["Robert'); drop table agents;--"]);
  assert.deepEqual(await found("' or '1'='1"), []);
  assert.deepEqual(await found('nul\0'), []);
  assert.deepEqual(await found('half \ud800'), []);
  assert.equal((await found('')).length, 4);
});

test('the metadata filter finds exact pairs, all of them', async () => {
  const accountId = await newAccount();
  const both = await create(accountId, { metadata: { team: 'a', env: 'prod' } });
  const one = await create(accountId, { metadata: { team: 'a', env: 'production' } });
  const odd = await create(accountId, { metadata: { '"}\'': '{"team":"a"}' } });
  const found = async (metadata: Record<string, string>) =>
    (await agents.list({ accountId, limit: 10, order: 'asc', metadata })).rows.map(({ id }) => id);
  assert.deepEqual(await found({ team: 'a' }), [both.id, one.id]);
  assert.deepEqual(await found({ team: 'a', env: 'prod' }), [both.id]);
  assert.deepEqual(await found({ env: 'pro' }), []);
  assert.deepEqual(await found({ '"}\'': '{"team":"a"}' }), [odd.id]);
  assert.deepEqual(await found({ team: "a' or 'a'='a" }), []);
  assert.deepEqual(await found({ team: '\0' }), []);
  assert.deepEqual(await found({ '\udc00': 'a' }), []);
  assert.equal((await found({})).length, 3);
});

test('labels select agents: every pair must be there, and a key alone finds every value', async () => {
  const accountId = await newAccount();
  const both = await create(accountId, { labels: { team: 'a', 'example.com/env': 'prod' } });
  const one = await create(accountId, { labels: { team: 'a', 'example.com/env': 'production' } });
  const empty = await create(accountId, { labels: { team: '' }, metadata: { env: 'prod' } });
  const foreign = await create(await newAccount(), { labels: { team: 'a' } });
  const found = async (filter: Pick<AgentFilter, 'labels' | 'hasLabel'>) =>
    (await agents.list({ accountId, limit: 10, order: 'asc', ...filter })).rows.map(({ id }) => id);
  assert.deepEqual(await found({ labels: { team: 'a' } }), [both.id, one.id]);
  assert.deepEqual(await found({ labels: { team: 'a', 'example.com/env': 'prod' } }), [both.id]);
  assert.deepEqual(await found({ labels: { team: '' } }), [empty.id]);
  assert.deepEqual(await found({ labels: { env: 'prod' } }), [], 'metadata is no label');
  assert.deepEqual(await found({ labels: { team: "a' or 'a'='a" } }), []);
  assert.deepEqual(await found({ labels: { team: '\0' } }), []);
  assert.deepEqual(await found({ hasLabel: 'team' }), [both.id, one.id, empty.id]);
  assert.deepEqual(await found({ hasLabel: 'example.com/env', labels: { team: 'a' } }), [both.id, one.id]);
  assert.deepEqual(await found({ hasLabel: 'a' }), []);
  assert.deepEqual(await found({ hasLabel: '\0' }), []);
  assert.equal((await agents.get(foreign.accountId, foreign.id))!.labels['team'], 'a');
});

test('an index serves the filter by labels among thousands of agents', async () => {
  const accountId = await newAccount();
  await execute(
    database.connectionString,
    `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds,
       keep_awake, auto_resume, auto_start, wake_on_message, labels, metadata, created_at, updated_at)
     select 'm' || lpad(n::text, 11, '0'), '${accountId}', 'n', 'runtime_a', 'm', 'small', 0, 0, 'auto', true, false, true,
       jsonb_build_object('team', 't' || n), '{}', now(), now() from generate_series(1, 3000) n;
     analyze agents`,
  );
  const plan = await execute<{ 'QUERY PLAN': string }>(
    database.connectionString,
    `explain select id from agents where account_id = '${accountId}' and deleted_at is null and labels @> '{"team":"t7"}'`,
  );
  assert.match(JSON.stringify(plan), /agents_labels/);
});

test('status and runtime filters', async () => {
  const accountId = await newAccount();
  const a = await create(accountId);
  const b = await create(accountId, { runtimeKind: 'runtime_b' });
  await agents.lease(b.id, 'h', 60_000);
  await agents.observe(b.id, 1, 'h', { event, status: 'running' });
  const found = async (filter: Partial<AgentFilter>) =>
    (await agents.list({ accountId, limit: 10, order: 'asc', ...filter })).rows.map(({ id }) => id);
  assert.deepEqual(await found({ status: 'running' }), [b.id]);
  assert.deepEqual(await found({ runtimeKind: 'runtime_a' }), [a.id]);
  assert.deepEqual(await found({ runtimeKind: 'runtime_a', status: 'running' }), []);
});
