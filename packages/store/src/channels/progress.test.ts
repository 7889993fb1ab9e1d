import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease, ShownProgress } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf, openAccess } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);
const { channelTurns: turns, relay } = store;
const claimOptions = { holder: 'h', limit: 9, perAgent: 9, leaseMs: 60_000 };
const answered = { outcome: 'answered', reason: null, answer: { text: 'done', files: [] } } as const;

/** Creates a conversation with a turn in progress. */
async function working() {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  await relay.receive(lease!, [inbound()]);
  const [claim] = await turns.claim(claimOptions);
  return { id, lease: lease!, claim: claim! };
}

const shownOf = async (lease: Lease): Promise<ShownProgress | undefined> => (await relay.progress([lease]))[0];

async function sendAll(lease: Lease): Promise<void> {
  for (
    let [part] = await relay.partsToSend([lease], 1);
    part !== undefined;
    [part] = await relay.partsToSend([lease], 1)
  ) {
    if (part.content.kind === 'markdown') await relay.split(lease, part.id, [{ text: 'done', format: null }]);
    else if (await relay.sending(lease, part.id)) await relay.sent(lease, part.id, 'p');
  }
}

test('what the agent says is told under its claim alone, and gone when the claim ends', async () => {
  const { lease, claim } = await working();
  assert.equal(await turns.tell({ ...claim, claim: claim.claim - 1 }, 'of an earlier claim'), false);
  assert.equal(await turns.tell(claim, 'so \0far'), true);
  const { claim: number, said, posted } = (await shownOf(lease))!;
  assert.deepEqual([number, said, posted], [claim.claim, 'so far', null]);
  await turns.answer(claim, answered);
  assert.equal(await turns.tell(claim, 'late'), false);
  const rows = await execute(database.connectionString, 'select 1 from channel_conversations where said is not null');
  assert.deepEqual(rows, []);
});

test('a message that shows progress is known until it is gone, also to the next holder, and there is one', async () => {
  const { id, lease, claim } = await working();
  assert.equal(await relay.posted(lease, 'c1', { id: 'm1', claim: claim.claim }), true);
  assert.equal(await relay.posted(lease, 'c1', { id: 'm2', claim: claim.claim }), false);
  await execute(database.connectionString, `update channels set lease_until = now() where agent_id = '${id}'`);
  assert.equal(await relay.posted(lease, 'c1', { id: 'm3', claim: claim.claim }), false, 'the lease is over');
  const [next] = await leasesOf(store, [id], 'another');
  assert.deepEqual((await shownOf(next!))!.posted, { id: 'm1', claim: claim.claim });
  await turns.answer(claim, answered);
  const answering = (await shownOf(next!))!;
  assert.deepEqual([answering.claim, answering.isAnswering, answering.isSending], [null, true, true]);
  await sendAll(next!);
  assert.deepEqual([(await shownOf(next!))!.isAnswering, (await shownOf(next!))!.posted?.id], [false, 'm1']);
  await relay.unposted(next!, 'c1', 'another');
  assert.equal((await shownOf(next!))!.posted?.id, 'm1');
  await relay.unposted(next!, 'c1', 'm1');
  assert.equal(await shownOf(next!), undefined);
});

test('a part of another conversation of the channel is seen, and groups show no progress', async () => {
  const { lease, id } = await working();
  await relay.receive(lease, [
    inbound({ conversation: { id: 'g1', kind: 'group' } }),
    inbound({ conversation: { id: 'c2' } }),
  ]);
  const claims = await turns.claim(claimOptions);
  assert.equal(claims.length, 2);
  assert.deepEqual((await relay.progress([lease])).map(({ conversationId }) => conversationId).toSorted(), [
    'c1',
    'c2',
  ]);
  await store.channels.say({ accountId, agentId: id, channel: 'telegram', conversationId: 'c2' }, 'a word');
  for (const { conversationId, isAnswering, isSending } of await relay.progress([lease])) {
    assert.deepEqual([isAnswering, isSending], [conversationId === 'c2', true]);
  }
});

test('a channel that becomes another account takes no message of that account away', async () => {
  const { id, lease, claim } = await working();
  await relay.posted(lease, 'c1', { id: 'm1', claim: claim.claim });
  const credentials = [{ name: 'botToken', sealed: 'another', last4: 'othr' }];
  await store.channels.put({
    accountId,
    agentId: id,
    channel: 'telegram',
    enabled: true,
    access: openAccess,
    credentials,
    accountKey: `another-${id}`,
  });
  assert.equal(await relay.posted(lease, 'c1', { id: 'm2', claim: claim.claim }), false);
  await relay.release(lease);
  const [next] = await leasesOf(store, [id]);
  assert.equal(await shownOf(next!), undefined);
});
