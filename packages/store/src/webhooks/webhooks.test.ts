import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { EventType } from '@lodge/domain';
import { appendAgentEvent } from '../events/append.ts';
import { execute } from '@lodge/testkit/postgres';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { deleteEnded } from '../work/index.ts';
import { claimWebhooks, insertWebhook, makeDeliveries, releaseWebhooks } from './index.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);
const { id: agentId } = await store.agents.create(newAgent(accountId), admitAll);
const types: readonly EventType[] = ['agent.paused'];

const happens = (n: number): Promise<void> =>
  store.database.transaction((trx) =>
    appendAgentEvent(trx, agentId, { type: 'agent.paused', data: { cause: 'idle', duration_ms: n } }),
  );

test('a position that moves while deliveries are made is the one that they begin at', async () => {
  const values = { accountId, url: 'https://a.example', description: '', patterns: [...types], enabled: true };
  const secret = { sealedSecret: 's', secretLast4: 'last' };
  await store.database.transaction((trx) => insertWebhook(trx, { ...values, ...secret }));
  for (const n of [1, 2, 3]) await happens(n);
  const [held] = await store.database.repeatable((db) => claimWebhooks(db, { holder: 'h', limit: 1, leaseMs: 60_000 }));
  const make = () => store.database.once((db) => makeDeliveries(db, held!, types, { limit: 10, maxPending: 10 }));
  const told = async () => (await make())?.made.map(({ body }) => JSON.parse(body).data.duration_ms);

  const other = new Client(database);
  await other.connect();
  await other.query(`begin; update webhooks set position =
    (select id from events where type = 'agent.paused' and data->>'duration_ms' = '2')`);
  const waiting = told();
  const isWaiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  while ((await other.query(isWaiting)).rows.length === 0) await sleep(5);
  await happens(4);
  await other.query('commit');
  await other.end();

  assert.deepEqual(await waiting, [3]);
  assert.deepEqual(await told(), [4], 'it happened after the statement had begun');
  assert.deepEqual(await make(), { made: [], more: false });
  await store.database.repeatable((db) => releaseWebhooks(db, [held!]));
  assert.equal(await make(), null, 'the lease has ended');
});

test('old deliveries go, and those beyond the newest of a webhook; pending ones stay', async () => {
  const run = (statement: string) => execute<{ type: string }>(database.connectionString, statement);
  await run('delete from webhook_deliveries');
  await run(`insert into webhook_deliveries (webhook_id, type, body, state, next_at, ended_at)
    select w.id, d.type, '{}', d.state, d.next_at, d.ended_at from webhooks w, (values
      ('waits', 'pending', now(), null::timestamptz), ('old', 'failed', null, now() - interval '2 days'),
      ('beyond', 'delivered', null, now()), ('kept', 'delivered', null, now())) d (type, state, next_at, ended_at)`);
  await deleteEnded(store.database, 'delivery', { kept: 1, maxAgeMs: 86_400_000 });
  const left = await run('select type from webhook_deliveries order by id');
  assert.deepEqual(
    left.map(({ type }) => type),
    ['waits', 'kept'],
  );
});
