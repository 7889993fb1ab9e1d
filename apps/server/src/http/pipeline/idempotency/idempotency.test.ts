/** A client's view if replies are not kept: a request is never executed twice, nor refused after its execution. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openApp } from '../../../../../../packages/testkit/src/plane/http/open-app.ts';

let hasRoom = true;
const {
  call,
  sql: run,
  store,
  accountId,
  close,
} = await openApp({
  api: (usual) => ({ ...usual, hasRoom: () => hasRoom }),
});
after(close);

/** A create under its own key. */
const create = (key: string) =>
  call('POST', '/v1/agents?wait=false', { body: { name: 'once' }, headers: { 'idempotency-key': key } });

test('while the disk is low a request is carried out once, and its reply is not kept', async () => {
  hasRoom = false;
  const stop = (key: string) => call('POST', '/v1/agents/aaaaaaaaaaaa/stop', { headers: { 'idempotency-key': key } });
  const key = randomUUID();
  assert.equal((await create(key)).status, 202);
  const again = await create(key);
  assert.deepEqual([again.status, again.body.error.code], [409, 'idempotency_key_reused']);
  assert.match(again.body.error.message, /was carried out/);
  const refused = randomUUID();
  assert.deepEqual(
    [(await stop(refused)).status, (await stop(refused)).status],
    [404, 404],
    'what was refused is refused again',
  );
});

test('an account with a hundred thousand keys of the last hour is told so before anything is done; others ask on', async () => {
  hasRoom = true;
  const known = randomUUID();
  const { text } = await create(known);
  await run(`update stored_bytes set items = items + 100000 where account_id = '${accountId}' and kind = 'replies'`);
  const refused = await create(randomUUID());
  assert.deepEqual([refused.status, refused.body.error.code], [429, 'quota_exceeded']);
  assert.match(refused.body.error.message, /Idempotency-Keys .* not carried out/);
  assert.equal(refused.headers['retry-after'], '60');
  assert.equal((await create(known)).text, text);
});

test('a flood of keyed requests of one account leaves connections of the database to others', async () => {
  await run(`update stored_bytes set items = 10 where account_id = '${accountId}' and kind = 'replies'`);
  assert.equal((await create(randomUUID())).status, 202);
  await run(`create table released (); insert into accounts (id, name) values ('other', 'b')`);
  // Another session holds the row that the account's claims wait for, until a signal.
  const held = run(`do $$ begin
    perform from stored_bytes where account_id = '${accountId}' for update;
    while not exists (select from released) loop perform pg_sleep(0.01); end loop;
  end $$`);
  while ((await inState('Timeout')) < 1) await sleep(5);
  const flood = Array.from({ length: 30 }, () => create(randomUUID()));
  while ((await inState('Lock')) < 2) await sleep(5);
  const asked = { accountId: 'other', key: 'k', fingerprint: Buffer.alloc(32), agentId: 'aaaaaaaaaaaa' };
  try {
    assert.equal((await store.idempotency.claim(asked, 15_000)).kind, 'claimed');
  } finally {
    await run('insert into released default values');
  }
  await held;
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)], [202], 'all of the account are carried out');
});

/** Sessions of the database that wait for such a thing. */
const inState = async (type: 'Lock' | 'Timeout'): Promise<number> =>
  (await run(`select from pg_stat_activity where datname = current_database() and wait_event_type = '${type}'`)).length;
