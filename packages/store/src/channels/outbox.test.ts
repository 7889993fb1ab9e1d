import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease, PartToSend } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { findChannel } from './channel-row.ts';

const { database, store } = await testStore();
const accountId = await firstAccount(store.database);
const { channelTurns: turns, relay } = store;

const file = { name: 'a.txt', mediaType: 'text/plain', bytes: 3, key: 'k' };

/** Creates a conversation whose message is answered with a text of three parts and a file. */
async function answeredOnce(): Promise<{ id: string; lease: Lease }> {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  await relay.receive(lease!, [inbound({ replyTo: { to: 1 } })]);
  await answer('one two three');
  const [whole] = await relay.partsToSend([lease!], 9);
  await relay.split(lease!, whole!.id, texts('one', 'two', 'three'));
  return { id, lease: lease! };
}

async function answer(text: string): Promise<void> {
  const [claim] = await turns.claim({ holder: 'h', limit: 1, perAgent: 9, leaseMs: 60_000 });
  await turns.answer(claim!, { outcome: 'answered', reason: null, answer: { text, files: [file] } });
}

const texts = (...all: string[]) => all.map((text) => ({ text, format: null }));
const next = async (lease: Lease): Promise<PartToSend | undefined> => (await relay.partsToSend([lease], 9))[0];
const stateOf = async (id: string) =>
  (await store.channels.messages({ accountId, agentId: id, limit: 9 })).map(({ state, reason }) => [state, reason]);
const anotherRelay = async (id: string): Promise<Lease> => {
  await execute(database.connectionString, `update channels set lease_until = now() where agent_id = '${id}'`);
  return (await leasesOf(store, [id], 'another'))[0]!;
};

test('parts are sent one after another, then the message is answered; a split that is repeated changes nothing', async () => {
  const { id, lease } = await answeredOnce();
  const [first] = await relay.partsToSend([lease], 9);
  await relay.split(lease, first!.id, texts('again'));
  const sentIds: string[] = [];
  for (const [index, text] of ['one', 'two', 'three', 'a.txt'].entries()) {
    assert.deepEqual(await stateOf(id), [['received', null]]);
    const parts = await relay.partsToSend([lease], 9);
    assert.equal(parts.length, 1);
    const [part] = parts;
    assert.deepEqual([part!.index, part!.count, part!.sentIds, part!.unclear], [index, 4, sentIds, false]);
    assert.deepEqual([part!.replyTo, part!.conversationId, part!.key.length <= 36], [{ to: 1 }, 'c1', true]);
    assert.equal(part!.content.kind === 'file' ? part!.content.name : (part!.content as { text: string }).text, text);
    assert.equal(await relay.sending(lease, part!.id), true);
    assert.equal(await relay.sending(lease, part!.id), false, 'nobody sends it a second time');
    assert.deepEqual(await relay.partsToSend([lease], 9), [], 'nothing is sent meanwhile');
    sentIds.push(`sent-${index}`);
    await relay.sent(lease, part!.id, `sent-${index}`);
  }
  assert.deepEqual(await stateOf(id), [['answered', null]]);
  assert.equal(await next(lease), undefined);
  const row = await store.database.repeatable((db) => findChannel(db, { accountId, agentId: id, channel: 'telegram' }));
  assert.ok(row!.lastOutboundAt !== null);
});

test('what a relay was sending when it died is unclear to the next one, and said to be unknown once', async () => {
  const { id, lease } = await answeredOnce();
  await relay.sending(lease, (await next(lease))!.id);
  const later = await anotherRelay(id);
  const part = await next(later);
  assert.equal(part!.unclear, true);
  await relay.sendFailed(later, part!.id, 'unknown', 'The connection ended.');
  assert.deepEqual(await stateOf(id), [['unknown', 'The connection ended.']]);
  assert.equal(await next(later), undefined, 'what follows of the answer is not sent');
  await relay.sendFailed(later, part!.id, 'failed', 'again');
  const events = await store.events.page({
    accountId,
    types: ['message.failed'],
    agentId: id,
    direction: 'asc',
    limit: 9,
  });
  assert.deepEqual(
    events.map(({ data }) => data.state),
    ['unknown'],
  );
});

test('what the earlier relay knows is true: a late "sent" of its own sending counts, until another has begun anew', async () => {
  for (const isBegun of [false, true]) {
    const { id, lease } = await answeredOnce();
    const part = (await next(lease))!;
    await relay.sending(lease, part.id);
    const later = await anotherRelay(id);
    if (isBegun) assert.equal(await relay.sending(later, part.id), true);
    await relay.sent(lease, part.id, 'late');
    const following = await next(later);
    assert.deepEqual(following?.sentIds, isBegun ? undefined : ['late']);
    if (!isBegun) continue;
    await relay.sent(later, part.id, 'anew');
    assert.deepEqual((await next(later))!.sentIds, ['anew']);
  }
});

test('a lease changes no part of another channel, also where both have the same number', async () => {
  const [ours, other] = [await answeredOnce(), await answeredOnce()];
  const { number } = ours.lease;
  await execute(
    database.connectionString,
    `update channels set lease_number = ${number} where agent_id = '${other.id}'`,
  );
  const theirs = { lease: { ...other.lease, number } };
  const part = (await next(theirs.lease))!;
  await relay.split(ours.lease, part.id, texts('forged'));
  assert.equal(await relay.sending(ours.lease, part.id), false);
  await relay.sendFailed(ours.lease, part.id, 'failed', 'forged');
  assert.equal(await relay.sending(theirs.lease, part.id), true);
  await relay.sent(ours.lease, part.id, 'forged');
  await relay.sendFailed(ours.lease, part.id, 'failed', 'forged');
  await relay.sendLater(ours.lease, part.id, new Date(), 'forged');
  assert.deepEqual(await relay.partsToSend([theirs.lease], 9), [], 'it is being sent still');
  await relay.sent(theirs.lease, part.id, 'told');
  assert.deepEqual((await next(theirs.lease))!.sentIds, ['told']);
});

test('a part that is to be sent later holds back its conversation, no other one', async () => {
  const { id, lease } = await answeredOnce();
  await relay.receive(lease, [inbound({ conversation: { id: 'c2' } })]);
  await answer('other');
  const part = (await relay.partsToSend([lease], 9)).find(({ conversationId }) => conversationId === 'c1')!;
  await relay.sending(lease, part.id);
  await relay.sendLater(lease, part.id, new Date(Date.now() + 60_000), 'rate limited');
  assert.deepEqual(
    (await relay.partsToSend([lease], 9)).map(({ conversationId }) => conversationId),
    ['c2'],
  );
  await execute(database.connectionString, `update channel_parts set due_at = now() where agent_id = '${id}'`);
  const again = (await relay.partsToSend([lease], 9)).find(({ conversationId }) => conversationId === 'c1')!;
  assert.deepEqual([again.id, again.attempts, again.unclear], [part.id, 1, false]);
});

test('a retry goes on at the part that was not sent, before what was queued later', async () => {
  const { id, lease } = await answeredOnce();
  const first = (await next(lease))!;
  await relay.sending(lease, first.id);
  await relay.sent(lease, first.id, 'p1');
  const second = (await next(lease))!;
  await relay.sending(lease, second.id);
  await relay.sendFailed(lease, second.id, 'failed', 'The platform refused it.');
  await store.channels.say({ accountId, agentId: id, channel: 'telegram', conversationId: 'c1' }, 'later');
  assert.deepEqual((await next(lease))!.content, { kind: 'markdown', markdown: 'later' });
  const [message] = await store.channels.messages({ accountId, agentId: id, limit: 1 });
  await store.channels.retry(accountId, id, message!.id);
  const again = (await next(lease))!;
  assert.deepEqual([again.id, again.sentIds, again.attempts], [second.id, ['p1'], 0]);
});

test('a conversation with a turn under way is shown as working', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  await relay.receive(lease!, [inbound({ conversation: { id: 'w' }, replyTo: { to: 7 } })]);
  assert.deepEqual(await relay.working([lease!]), []);
  const [claim] = await turns.claim({ holder: 'h', limit: 1, perAgent: 9, leaseMs: 60_000 });
  assert.deepEqual(
    (await relay.working([lease!])).map(({ conversationId, replyTo }) => [conversationId, replyTo]),
    [['w', { to: 7 }]],
  );
  await turns.answer(claim!, { outcome: 'answered', reason: null, answer: null });
  assert.deepEqual(await relay.working([lease!]), []);
  assert.deepEqual(await stateOf(id), [['answered', null]]);
});

test('since when a part is unclear counts from its first try that may have been sent, until somebody sends it again', async () => {
  const { id, lease } = await answeredOnce();
  const { id: part } = (await next(lease))!;
  const age = () =>
    execute(
      database.connectionString,
      `update channel_parts set due_at = now(), sending_at = sending_at - interval '1 minute',
        unclear_since = unclear_since - interval '1 minute' where id = '${part}'`,
    );
  const tried = async (isUnclear: boolean): Promise<number | null> => {
    await relay.sending(lease, part);
    await age();
    await relay.sendLater(lease, part, new Date(), 'again', isUnclear);
    const { unclearForMs } = (await next(lease))!;
    return unclearForMs === null ? null : Math.floor(unclearForMs / 60_000);
  };
  assert.equal((await next(lease))!.unclearForMs, null);
  assert.equal(await tried(false), null, 'it was surely not sent');
  assert.equal(await tried(true), 1);
  assert.equal(await tried(false), 2, 'the try before stays unclear');
  await relay.sending(lease, part);
  const later = await anotherRelay(id);
  await age();
  assert.equal(Math.floor((await next(later))!.unclearForMs! / 60_000), 3);
  await relay.sendFailed(later, part, 'unknown', 'It may have arrived.');
  const [message] = await store.channels.messages({ accountId, agentId: id, limit: 1 });
  await store.channels.retry(accountId, id, message!.id);
  assert.equal((await next(later))!.unclearForMs, null);
});

for (const how of ['put', 'paired'] as const) {
  test(`nothing of an account before is said by the one that follows it: ${how}`, async () => {
    const { id, lease } = await answeredOnce();
    await relay.receive(lease, [
      inbound({ conversation: { id: 'c2' } }),
      inbound({ conversation: { id: 'c3' } }),
      inbound({ conversation: { id: 'c4' } }),
    ]);
    const [turn] = await turns.claim({ holder: 'h', limit: 1, perAgent: 9, leaseMs: 60_000 });
    await answer('of another conversation');
    const sending = (await relay.partsToSend([lease], 9)).find(({ conversationId }) => conversationId === 'c1')!;
    await relay.sending(lease, sending.id);
    if (how === 'put') {
      const row = (await store.database.repeatable((db) =>
        findChannel(db, { accountId, agentId: id, channel: 'telegram' }),
      ))!;
      await store.channels.put({ ...row, credentials: [], accountKey: `other-${id}` });
    } else {
      const identity = { id: `other-${id}`, name: 'Other' };
      assert.equal(await relay.changed(lease, { status: 'connected', identity }, null, identity.id), true);
    }
    const late = { outcome: 'answered', reason: null, answer: { text: 'late', files: [] } } as const;
    assert.equal(await turns.answer(turn!, late), false);
    const following = how === 'put' ? await anotherRelay(id) : lease;
    assert.deepEqual([following.cursor, await relay.partsToSend([following], 9)], [null, []]);
    assert.deepEqual(await turns.claim({ holder: 'h', limit: 9, perAgent: 9, leaseMs: 60_000 }), []);
    const all = await store.channels.messages({ accountId, agentId: id, limit: 9 });
    assert.deepEqual(all.map(({ state }) => state).toSorted(), ['failed', 'failed', 'failed', 'unknown']);
    assert.match(all[0]!.reason!, /another account/);
  });
}
