import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);
const { relay, channelTurns: turns } = store;
const run = (statement: string): Promise<Record<string, unknown>[]> => execute(database.connectionString, statement);

/** Creates a channel with a message whose answer has two parts. */
async function answered(): Promise<{ readonly id: string; readonly lease: Lease }> {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  await relay.receive(lease!, [inbound()]);
  const claims = await turns.claim({ holder: 'h', limit: 9, perAgent: 9, leaseMs: 60_000 });
  const claim = claims.find(({ agentId }) => agentId === id)!;
  await turns.answer(claim, { outcome: 'answered', reason: null, answer: { text: 'a b', files: [] } });
  const [whole] = await relay.partsToSend([lease!], 9);
  await relay.split(
    lease!,
    whole!.id,
    ['a', 'b'].map((text) => ({ text, format: null })),
  );
  return { id, lease: lease! };
}

const stateOf = async (agentId: string): Promise<readonly (string | null)[]> => {
  const [message] = await store.channels.messages({ accountId, agentId, limit: 1 });
  return [message!.state, message!.reason];
};
const age = (id: string, hours: number): Promise<unknown> =>
  run(`update channel_parts set due_at = now() - interval '${hours} hours' where agent_id = '${id}'`);
const eventsOf = async (agentId: string): Promise<number> =>
  (await store.events.page({ accountId, types: ['message.failed'], agentId, direction: 'asc', limit: 9 })).length;

test('an answer that could not be sent for a day fails with a reason, and a retry sends what was not sent', async () => {
  const { id, lease } = await answered();
  const [first] = await relay.partsToSend([lease], 9);
  await relay.sending(lease, first!.id);
  await relay.sent(lease, first!.id, 'p1');
  await age(id, 23);
  await relay.failUnsent();
  assert.equal((await stateOf(id))[0], 'received');
  await age(id, 25);
  await relay.failUnsent();
  await relay.failUnsent();
  const [state, reason] = await stateOf(id);
  assert.equal(state, 'failed');
  assert.match(reason!, /not connected for 24 hours.*Retry/);
  assert.deepEqual([await relay.partsToSend([lease], 9), await eventsOf(id)], [[], 1]);
  const [message] = await store.channels.messages({ accountId, agentId: id, limit: 1 });
  await store.channels.retry(accountId, id, message!.id);
  await relay.failUnsent();
  const [again] = await relay.partsToSend([lease], 9);
  assert.deepEqual([again!.sentIds, again!.index], [['p1'], 1]);
});

test('what is being sent is left alone, and what may have arrived is unknown', async () => {
  const { id, lease } = await answered();
  const [first] = await relay.partsToSend([lease], 9);
  await relay.sending(lease, first!.id);
  await age(id, 25);
  await relay.failUnsent();
  assert.equal((await stateOf(id))[0], 'received');
  await relay.sendLater(lease, first!.id, new Date(), 'nobody knows', true);
  await age(id, 25);
  await relay.failUnsent();
  assert.equal((await stateOf(id))[0], 'unknown');
});

test('of a channel so many answers wait, and the oldest beyond fail', async () => {
  const { id, lease } = await answered();
  await run(`
    with made as (
      insert into channel_answers (conversation, text)
      select v.id, n::text from channel_conversations v, generate_series(1, 2300) n where v.agent_id = '${id}'
      returning id, seq, conversation, text
    )
    insert into channel_parts (answer_id, agent_id, channel, conversation, seq, position, kind, text)
    select id, '${id}', 'telegram', conversation, seq, 0, 'text', text from made order by seq
  `);
  await relay.failUnsent();
  assert.match((await stateOf(id))[1]!, /More than 2000 answers/);
  const [left] = await run(
    `select count(distinct answer_id)::int as n, min(text::int) as first from channel_parts
      where agent_id = '${id}' and state = 'waiting'`,
  );
  assert.deepEqual(left, { n: 2_000, first: 301 });
  const [part] = await relay.partsToSend([lease], 9);
  assert.deepEqual(part!.content, { kind: 'text', text: '301', format: null, choices: null });
});
