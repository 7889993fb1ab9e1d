/**
 * Contents of model calls are stored with the call's row when the account records them, and end in time and with the agent.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, finishedCall, firstAccount, newAgent, openCall } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { connectClient } from '../database/connection.ts';
import { withAgents } from '../testing/agents-fixture.ts';
import { updateAccount } from '../accounts/accounts.ts';
import type { ContentBounds } from '@lodge/ports';
import { forgetContents, pruneCalls } from './call-prune.ts';

const { database, store } = await testStore();
const { agents, usage } = store;
const ledger = store.ledgerOf('h');
const accountId = await firstAccount(store.database);
const content = { sealed: 'v2.sealed', truncated: true };

const record = (recordLlmCalls: boolean) =>
  store.database.transaction((trx) => updateAccount(trx, accountId, { recordLlmCalls }));
before(() => record(true));

async function newAgentOf() {
  const { id } = await agents.create(newAgent(accountId), admitAll);
  await agents.lease(id, 'h', 60_000);
  return { agentId: id, accountId };
}

const forget = (bounds: ContentBounds) => store.database.repeatable((db) => forgetContents(db, bounds));
const contentOf = async (agent: { agentId: string }, id: string) => (await usage.call(agent.agentId, id))!.content;
const kept = async () =>
  (
    await execute<{ id: string }>(database.connectionString, 'select call_id as id from llm_call_contents order by 1')
  ).map(({ id }) => id);

test('what was said is written with the row, once, and read with it by whose agent it is', async () => {
  const [agent, other] = [await newAgentOf(), await newAgentOf()];
  await ledger.open(openCall(agent, 'a1'));
  await Promise.all([
    ledger.close(finishedCall(agent, 'a1'), content),
    ledger.close(finishedCall(agent, 'a1'), content),
  ]);
  await ledger.close(finishedCall(agent, 'a2'));
  const { content: found, ...row } = (await usage.call(agent.agentId, 'a1'))!;
  assert.deepEqual(found, content);
  assert.deepEqual(
    row,
    (await usage.calls(agent.agentId, 2, null)).find(({ id }) => id === 'a1'),
  );
  assert.equal(await contentOf(agent, 'a2'), null);
  assert.equal(await usage.call(other.agentId, 'a1'), null);
  assert.equal(await usage.call(agent.agentId, 'nothing'), null);
});

test('turned off while a call is under way, nothing of it is kept, and what was kept stays', async () => {
  const agent = await newAgentOf();
  await ledger.close(finishedCall(agent, 'b1'), content);
  await record(false);
  await ledger.close(finishedCall(agent, 'b2'), content);
  await record(true);
  assert.deepEqual([await contentOf(agent, 'b1'), await contentOf(agent, 'b2')], [content, null]);
});

test('with the agent goes what it said, also what is written while it goes', async () => {
  const agent = await newAgentOf();
  await ledger.close(finishedCall(agent, 'c0'), content);
  await agents.markDeleted(accountId, agent.agentId);
  const ids = Array.from({ length: 20 }, (_, n) => `c${n + 1}`);
  await Promise.all([
    ...ids.map((id) => ledger.close(finishedCall(agent, id), content)),
    agents.finishDelete(agent.agentId, 'h'),
  ]);
  await ledger.close(finishedCall(agent, 'late'), content);
  assert.deepEqual(
    (await kept()).filter((id) => ['c0', ...ids, 'late'].includes(id)),
    [],
  );
  assert.ok((await usage.call(agent.agentId, 'late'))!, 'the rows stay');
});

test('what is older than wanted is deleted, however much, and the rest is not', async () => {
  const agent = await newAgentOf();
  await ledger.close(finishedCall(agent, 'new'), content);
  await execute(
    database.connectionString,
    `insert into llm_calls (id, agent_id, account_id, provider, model, started_at, outcome)
     select 'old' || n, '${agent.agentId}', '${accountId}', 'p', 'm', now(), 'ok' from generate_series(1, 250) n`,
  );
  await execute(
    database.connectionString,
    `insert into llm_call_contents (call_id, agent_id, ended_at, truncated, sealed)
     select id, agent_id, now() - interval '2 days', false, 's' from llm_calls where id like 'old%'`,
  );
  await forget({ maxAgeMs: 3 * 86_400_000, maxBytes: 1e9 });
  assert.equal((await kept()).filter((id) => id.startsWith('old')).length, 250);
  await forget({ maxAgeMs: 86_400_000, maxBytes: 1e9 });
  const left = await kept();
  assert.equal(left.filter((id) => id.startsWith('old')).length, 0);
  assert.ok(left.includes('new'));
});

test('an account keeps so many bytes of what was said; the agent with most gives way, and no other', async () => {
  const maxBytes = 80_000;
  const bounded = withAgents(store, { contentBytes: maxBytes }).ledgerOf('h');
  await execute(database.connectionString, 'delete from llm_call_contents');
  const [quiet, loud] = [await newAgentOf(), await newAgentOf()];
  const say = async (agent: typeof quiet, name: string, count: number): Promise<void> => {
    const said = { sealed: 'x'.repeat(1_000), truncated: false };
    for (let n = 0; n < count; n += 1) await bounded.close(finishedCall(agent, `${name}${n}`), said);
  };
  await say(quiet, 'quiet', 10);
  await say(loud, 'loud', 100);
  assert.equal((await kept()).length, 80, 'no more is kept, and every call has its row');
  assert.equal((await usage.calls(loud.agentId, 200, null)).length, 100);
  await forget({ maxAgeMs: 86_400_000, maxBytes });
  await say(loud, 'later', 5);
  const left = await kept();
  assert.equal(left.filter((id) => id.startsWith('quiet')).length, 10);
  assert.ok(left.length >= 65 && left.length <= 75, `${left.length}`);
  assert.ok(left.includes('loud69') && left.includes('later4') && !left.includes('loud0'));
  await agents.markDeleted(accountId, loud.agentId);
  await agents.finishDelete(loud.agentId, 'h');
  const counted = await execute(
    database.connectionString,
    `select agent_id, items::int, bytes::int from stored_bytes where kind = 'contents' and items > 0`,
  );
  assert.deepEqual(counted, [{ agent_id: quiet.agentId, items: 10, bytes: 10_000 }]);
});

test('a prune and the end of an agent never wait for each other, in whatever order each locks contents', async () => {
  const ageMs = 86_400_000;
  const prunes = [
    () => forget({ maxAgeMs: ageMs, maxBytes: 1e9 }),
    () => forget({ maxAgeMs: 10 * ageMs, maxBytes: 1 }),
    () => pruneCalls(store.database, { maxAgeMs: ageMs, maxCalls: 1e9 }),
  ];
  const [between, ending] = [await connectClient(database), await connectClient(database)];
  try {
    // It uses the index of agents and times, as in a large table.
    await ending.query('set enable_seqscan = off; set enable_bitmapscan = off');
    for (const [n, prune] of prunes.entries()) {
      await execute(database.connectionString, 'delete from llm_call_contents');
      const { agentId } = await newAgentOf();
      // In the table, and by their ids, the last comes first.
      for (const days of [2, 3, 4]) await keepOld({ agentId, accountId }, `order${n}-${days}`, days);
      await between.query('begin');
      await between.query('select from llm_call_contents where call_id = $1 for update', [`order${n}-3`]);
      const ended = ending.query(`update agents set deleted_at = now(), desired = 'deleted' where id = $1`, [agentId]);
      while ((await waiting()) < 1) await sleep(5);
      const round = { isOver: false };
      const pruned = prune().finally(() => (round.isOver = true));
      while (!round.isOver && (await waiting()) < 2) await sleep(5);
      await between.query('commit');
      await Promise.all([ended, pruned]);
      assert.deepEqual(await kept(), []);
    }
  } finally {
    await Promise.all([between.end(), ending.end()]);
  }
});

async function keepOld(agent: { agentId: string; accountId: string }, id: string, days: number): Promise<void> {
  await execute(
    database.connectionString,
    `insert into llm_calls (id, agent_id, account_id, provider, model, started_at, outcome, summed)
     values ('${id}', '${agent.agentId}', '${agent.accountId}', 'p', 'm', now() - interval '${days} days', 'ok', true)`,
  );
  await execute(
    database.connectionString,
    `insert into llm_call_contents (call_id, agent_id, ended_at, truncated, sealed)
     values ('${id}', '${agent.agentId}', now() - interval '${days} days', false, 'sealed')`,
  );
}

/** Returns the sessions that wait for another one's lock. */
const waiting = async (): Promise<number> =>
  (
    await execute(
      database.connectionString,
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length;
