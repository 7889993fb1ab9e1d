import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelChange } from '@lodge/store/channels';
import { execute } from '@lodge/testkit/postgres';
import {
  agentWithChannel,
  inbound,
  leasesOf,
  openAccess,
  slackChange,
} from '../../../store/src/testing/channel-fixture.ts';
import { admitAll, firstAccount, newAgent } from '../../../store/src/testing/fixture.ts';
import { testStore } from '../../../store/src/testing/test-store.ts';
import { storeChannel } from './put.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const put = (change: ChannelChange, { database } = store) => storeChannel(database, change);
const change = (agentId: string, given: Partial<ChannelChange> = {}): ChannelChange =>
  slackChange({ accountId, agentId, ...given });
const conflict = { code: 'channel_conflict' };
const noAgent = { code: 'agent_not_found' };

test('a channel is put and changed; what is not named stays', async () => {
  const id = await agent();
  const first = await put(change(id, { accountKey: 'T1/B1' }));
  assert.ok(first.isNew);
  assert.deepEqual([first.row.status, first.row.revision], ['connecting', 1]);
  const second = await put(
    change(id, { enabled: false, credentials: [{ name: 'botToken', sealed: 's2', last4: '2222' }] }),
  );
  assert.ok(!second.isNew);
  assert.deepEqual([second.row.status, second.row.revision, second.row.enabled], ['disabled', 2, false]);
  assert.deepEqual(
    second.row.credentials.map(({ name, last4 }) => [name, last4]),
    [
      ['appToken', '1111'],
      ['botToken', '2222'],
    ],
  );
  await assert.rejects(put(change(await agent(), { accountKey: 'T1/B1' })), conflict);
  await assert.rejects(put(change('no-such-agent')), noAgent);
  await assert.rejects(put(change(id, { accountId: 'other' })), noAgent);
});

test('of agents that put the same account at once one has it, and nothing is written of the others', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, agent));
  const results = await Promise.allSettled(
    ids.map((id, n) => put(change(id, { accountKey: 'T2/B2' }), [store, other][n % 2])),
  );
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []));
  assert.deepEqual(
    refused,
    Array.from({ length: 5 }, () => conflict.code),
  );
  const rows = await execute<{ n: number }>(
    database.connectionString,
    `select count(*)::int as n from channel_credentials where agent_id = any('{${ids.join()}}')`,
  );
  assert.equal(rows[0]!.n, 1);
});

test('an agent that is deleted takes everything of its channels along, and gives its account back before', async () => {
  const id = await agentWithChannel(store, accountId, {
    accountKey: 'bot-x',
    access: { ...openAccess, mode: 'pairing' },
  });
  const [lease] = await leasesOf(store, [id]);
  const file = { ref: 'r', name: 'f', mediaType: 'm', bytes: 1, kind: 'file' } as const;
  await store.relay.receive(lease!, [inbound(), inbound({ conversation: { kind: 'group', id: 'g' }, files: [file] })]);
  await store.relay.vaultSet(lease!, [{ type: 't', id: '1', sealed: 's' }]);
  await store.agents.markDeleted(accountId, id);
  await assert.rejects(put(change(id)), noAgent, 'nothing is put on an agent that is being deleted');
  await agentWithChannel(store, accountId, { accountKey: 'bot-x' });
  await store.agents.lease(id, 'h', 60_000);
  await store.agents.finishDelete(id, 'h');
  const tables = await execute<{ name: string }>(
    database.connectionString,
    `select table_name as name from information_schema.columns where column_name = 'agent_id' and table_name ~ '^channel'`,
  );
  assert.ok(tables.length >= 7);
  for (const { name } of tables) {
    assert.deepEqual(
      await execute(database.connectionString, `select from ${name} where agent_id = '${id}'`),
      [],
      name,
    );
  }
});

test('another account on the same channel begins anew: its messages may have the same ids', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  const message = inbound();
  await store.relay.receive(lease!, [message], { offset: 9 });
  const bare = { channel: 'telegram', credentials: [] } as const;
  const again = async () => {
    const [held] = await leasesOf(store, [id]);
    await store.relay.receive(held!, [message]);
    await store.relay.release(held!);
    return held!.cursor;
  };
  await store.relay.release(lease!);
  await put(change(id, bare));
  assert.deepEqual(await again(), { offset: 9 });
  await put(change(id, { ...bare, accountKey: 'another bot' }));
  assert.equal(await again(), null);
  assert.equal((await store.channels.messages({ accountId, agentId: id, limit: 9 })).length, 2);
});

test('another list of senders leaves the connection, and what it needs to hear or to be opened by makes another', async () => {
  const id = await agent();
  const bare = (given: Partial<ChannelChange>) => put(change(id, { credentials: [], ...given }));
  await put(change(id, { accountKey: 'T3/B3' }));
  const groups = { ...openAccess.groups, requireMention: true };
  const revisions = [];
  for (const given of [
    { access: { ...openAccess, allowFrom: ['u1'] } },
    { accountKey: 'T3/B3' },
    { access: { ...openAccess, groups } },
    { access: { ...openAccess, groups }, enabled: false },
    { access: { ...openAccess, groups }, accountKey: 'T4/B4', enabled: false },
  ]) {
    revisions.push((await bare(given)).row.revision);
  }
  assert.deepEqual(revisions, [1, 1, 2, 3, 4]);
  await execute(database.connectionString, `update channels set status = 'error' where agent_id = '${id}'`);
  const { row } = await bare({ access: { ...openAccess, groups }, enabled: false });
  assert.deepEqual([row.revision, row.status], [5, 'disabled'], 'its owner may have repaired it elsewhere');
});
