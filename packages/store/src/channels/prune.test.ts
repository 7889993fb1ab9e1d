import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execute } from '@lodge/testkit/postgres';
import { advisoryLocks } from '../database/locks.ts';
import { connectClient } from '../database/connection.ts';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { findChannel } from './channel-row.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);
const { relay } = store;
const run = <Row extends Record<string, unknown>>(statement: string): Promise<Row[]> =>
  execute<Row>(database.connectionString, statement);
const count = async (agentId: string): Promise<number> => {
  const [row] = await run<{ n: number }>(
    `select count(*)::int as n from channel_messages where agent_id = '${agentId}'`,
  );
  return row!.n;
};

/** Creates a channel with this many answered messages. */
async function withEnded(messages: number): Promise<string> {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  await relay.receive(lease!, [inbound()]);
  await run(`
    insert into channel_messages (agent_id, channel, account_id, conversation, sender_id, sender_name, text, state, sent_at)
    select agent_id, channel, account_id, conversation, sender_id, sender_name, n::text, 'answered', sent_at
    from channel_messages, generate_series(1, ${messages}) n where agent_id = '${id}'
  `);
  return id;
}

test('of a channel the last messages are kept, in steps; one that had none since is not looked at again', async () => {
  const id = await withEnded(12_500);
  await relay.prune();
  assert.equal(await count(id), 10_001, 'the one that waits is kept');
  const [oldest] = await run<{ text: string }>(
    `select text from channel_messages where agent_id = '${id}' and state = 'answered' order by seq limit 1`,
  );
  assert.equal(oldest!.text, '2501');
  await run(`update channel_messages set state = 'answered' where agent_id = '${id}'`);
  await relay.prune();
  assert.equal(await count(id), 10_001);
  await run(`update channels set last_inbound_at = clock_timestamp() where agent_id = '${id}'`);
  await relay.prune();
  assert.equal(await count(id), 10_000);
});

test('while another process prunes, nothing is done twice', async () => {
  const id = await withEnded(10_500);
  const client = await connectClient(database);
  try {
    await client.query('select pg_advisory_lock($1)', [advisoryLocks.channelPrune]);
    await relay.prune();
    assert.equal(await count(id), 10_501);
  } finally {
    await client.end();
  }
  await relay.prune();
  assert.equal(await count(id), 10_001);
});

test('answers go with the last message that they answer, and words of ours after a day', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  await relay.receive(lease!, [inbound(), inbound()]);
  const options = { holder: 'h', limit: 9, perAgent: 9, leaseMs: 60_000 };
  const claim = (await store.channelTurns.claim(options)).find(({ agentId }) => agentId === id)!;
  await store.channelTurns.answer(claim, { outcome: 'answered', reason: null, answer: { text: 'a', files: [] } });
  await store.channels.say({ accountId, agentId: id, channel: 'telegram', conversationId: 'c1' }, 'ours');
  const conversation = `(select id from channel_conversations where agent_id = '${id}')`;
  const texts = async (): Promise<string[]> =>
    (
      await run<{ text: string }>(`select text from channel_answers where conversation = ${conversation} order by seq`)
    ).map(({ text }) => text);
  const age = (days: number, what: string): Promise<unknown> =>
    run(`update channel_messages set state = 'answered', received_at = now() - interval '${days} days' where id in (
      select id from channel_messages where agent_id = '${id}' and ${what})`);
  await run(`
    update channel_answers set state = 'sent', ended_at = now() - interval '2 days' where conversation = ${conversation}
  `);
  await age(2, 'true');
  await relay.prune();
  assert.deepEqual(await texts(), ['a']);
  await age(31, `seq = (select min(seq) from channel_messages where agent_id = '${id}')`);
  await relay.prune();
  assert.deepEqual([await count(id), await texts()], [1, ['a']]);
  await age(31, 'true');
  await relay.prune();
  assert.deepEqual([await count(id), await texts()], [0, []]);
});

test('credentials that no platform has taken within seven days are removed, and the owner is told', async () => {
  const credentials = [{ name: 'botToken', sealed: 's', last4: '' }];
  const put = (accountKey: string) => agentWithChannel(store, accountId, { accountKey, credentials });
  const [old, fresh, verified, earlier] = [
    await put('unverified/a/1'),
    await put('unverified/b/1'),
    await put('1'),
    await put('unverified/earlier/2'),
  ];
  await run(`update channel_credentials set created_at = now() - interval '8 days' where agent_id <> '${fresh}'`);
  await relay.prune();
  const rows = await run<{ agent_id: string; status: string }>(
    `select c.agent_id, c.status from channels c where exists (
       select from channel_credentials k where k.agent_id = c.agent_id
     ) and c.agent_id = any('{${[old, fresh, verified, earlier].join()}}')`,
  );
  assert.deepEqual(rows.map(({ agent_id }) => agent_id).toSorted(), [fresh, verified, earlier].toSorted());
  const ended = await store.database.repeatable((db) =>
    findChannel(db, { accountId, agentId: old, channel: 'telegram' }),
  );
  assert.deepEqual([ended!.status, ended!.statusReason!.code], ['error', 'not_verified']);
  const reasons = await run(
    `select data->>'code' as code from events where agent_id = '${old}' and type = 'channel.disconnected'`,
  );
  assert.deepEqual(reasons, [{ code: 'not_verified' }]);
});
