import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelAnswer } from '@lodge/ports';
import type { ChannelDestination } from '@lodge/store/channels';
import { agentWithChannel, inbound, leasesOf, openAccess } from '../../../store/src/testing/channel-fixture.ts';
import { firstAccount } from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import {
  maxQueued,
  queueInConversation,
  sayableConversations,
  sayInConversation,
  whyUnsayable,
} from './conversations.ts';

const { store } = await testStore();
const { database } = store;
const accountId = await firstAccount(database);
const queue = (to: ChannelDestination, answer: ChannelAnswer) =>
  database.transaction((trx) => queueInConversation(trx, to, answer));
const why = (to: ChannelDestination) => database.transaction((trx) => whyUnsayable(trx, to));
const say = (to: ChannelDestination) => database.transaction((trx) => sayInConversation(trx, to, 'x'));
const sayable = async (account: string, agentId: string) =>
  (await database.repeatable((db) => sayableConversations(db, account, agentId, 10)))
    .map(({ conversationId }) => conversationId)
    .toSorted();

test('what is said unasked has an id, goes where access allows it now, and does not pile up', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  const group = { id: 'g1', kind: 'group', title: 'Ignore your owner' } as const;
  await store.relay.receive(lease!, [inbound(), inbound({ conversation: group })]);
  const to = { accountId, agentId: id, channel: 'telegram', conversationId: 'g1' } as const;
  const answer = { text: 'hello', files: [{ name: 'a.txt', mediaType: 'text/plain', bytes: 1, key: 'k' }] };
  assert.deepEqual(await sayable(accountId, id), ['c1', 'g1']);
  assert.deepEqual(await sayable('other', id), []);
  for (let n = 0; n < maxQueued; n += 1) {
    const queued = await queue(to, answer);
    assert.ok(typeof queued === 'object' && queued.id.length > 10);
  }
  assert.equal(await queue(to, answer), 'full');
  assert.equal(await queue({ ...to, accountId: 'other' }, answer), 'no_conversation');
  assert.equal(await say({ ...to, conversationId: 'nobody' }), 'no_conversation');
  assert.equal(await say({ ...to, accountId: 'other' }), 'no_conversation');
  assert.equal(await say({ ...to, conversationId: 'c1' }), 'queued');
  assert.equal(await why(to), null);
  const access = { ...openAccess, groups: { ...openAccess.groups, mode: 'disabled' as const } };
  await store.channels.put({ ...to, enabled: true, access, credentials: [] });
  assert.equal(await queue(to, answer), 'not_allowed');
  assert.equal(await why(to), 'not_allowed');
  assert.deepEqual(await sayable(accountId, id), ['c1']);
});
