import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf, slackChange } from '../testing/channel-fixture.ts';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { channelsOf, findChannel } from './channel-row.ts';
import { deleteChannel } from './channels.ts';
import type { ChannelChange } from './channels.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const change = (agentId: string, given: Partial<ChannelChange> = {}): ChannelChange =>
  slackChange({ accountId, agentId, ...given });

test("a channel is found and removed in its account's agent alone", async () => {
  const id = await agent();
  await store.channels.put(change(id));
  const place = { accountId, agentId: id, channel: 'slack' } as const;
  const remove = (accountId: string) =>
    store.database.transaction((trx) => deleteChannel(trx, { ...place, accountId }));
  assert.equal(await store.database.repeatable((db) => findChannel(db, { ...place, accountId: 'other' })), null);
  assert.deepEqual([await remove('other'), await remove(accountId), await remove(accountId)], [false, true, false]);
  assert.deepEqual(await store.database.repeatable((db) => channelsOf(db, { accountId, agentId: id })), []);
});

test('a state is an event when it is another than before, and a code to scan is kept until it expires', async () => {
  const id = await agent();
  const put = await store.channels.put(change(id, { channel: 'whatsapp', credentials: [] }));
  assert.deepEqual([put.row.status, put.row.statusReason!.code], ['pending_pairing', 'pairing_needed']);
  const [lease] = await leasesOf(store, [id]);
  const reason = { code: 'pairing_needed', message: 'Scan the code.' } as const;
  const code = { qr: 'q', pairingCode: null, expiresAt: new Date(Date.now() + 60_000), attempt: 2 };
  await store.relay.changed(lease!, { status: 'pending_pairing', reason, code }, 'sealed code');
  const pairing = async () =>
    (await store.database.repeatable((db) => findChannel(db, { accountId, agentId: id, channel: 'whatsapp' })))!
      .pairing;
  assert.deepEqual(await pairing(), { sealed: 'sealed code', expiresAt: code.expiresAt, attempt: 2 });
  await execute(database.connectionString, `update channels set pairing_expires_at = now() where agent_id = '${id}'`);
  assert.equal(await pairing(), null);
  const identity = { id: '49123@s', name: 'Ann' };
  for (let n = 0; n < 2; n += 1) {
    assert.equal(await store.relay.changed(lease!, { status: 'connected', identity, note: 'n' }, null, '49123'), true);
  }
  const down = { code: 'platform_unreachable', message: 'm' } as const;
  await store.relay.changed(lease!, { status: 'disconnected', reason: down }, null);
  await store.relay.changed(lease!, { status: 'disconnected', reason: { ...down, message: 'other words' } }, null);
  const row = (await store.database.repeatable((db) =>
    findChannel(db, { accountId, agentId: id, channel: 'whatsapp' }),
  ))!;
  assert.deepEqual([row.status, row.statusReason!.message, row.identity], ['disconnected', 'other words', identity]);
  const types = ['channel.connected', 'channel.disconnected', 'channel.pairing_required'] as const;
  const events = await store.events.page({ accountId, types, agentId: id, direction: 'asc', limit: 9 });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['channel.connected', 'channel.disconnected'],
  );
});

test('a connection that turns out to be the account of another agent is in error, with the sentence', async () => {
  const [one, two] = [await agent(), await agent()];
  for (const id of [one, two]) await store.channels.put(change(id, { channel: 'whatsapp', credentials: [] }));
  const [first, second] = await leasesOf(store, [one, two]);
  const state = { status: 'connected', identity: { id: '1', name: 'n' } } as const;
  const results = await Promise.all([first, second].map((lease) => store.relay.changed(lease!, state, null, 'same')));
  assert.deepEqual(new Set(results), new Set([true, 'conflict']));
  const rows = await Promise.all(
    [one, two].map((id) =>
      store.database.repeatable((db) => findChannel(db, { accountId, agentId: id, channel: 'whatsapp' })),
    ),
  );
  assert.deepEqual(rows.map((row) => row!.status).toSorted(), ['connected', 'error']);
});

test('messages are paged newest first, by channel and state, without those of other accounts', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  await store.relay.receive(
    lease!,
    Array.from({ length: 5 }, (_, n) => inbound({ text: String(n) })),
  );
  const page = async (given = {}) =>
    (await store.channels.messages({ accountId, agentId: id, limit: 2, ...given })).map(({ text }) => text);
  assert.deepEqual(await page(), ['4', '3']);
  const [, last] = await store.channels.messages({ accountId, agentId: id, limit: 2 });
  assert.deepEqual(await page({ before: last!.id }), ['2', '1']);
  assert.deepEqual(await page({ channel: 'slack' }), []);
  assert.deepEqual(await page({ state: 'answered' }), []);
  assert.deepEqual(await page({ accountId: 'other' }), []);
});

test('a change of a channel is heard in every process, by its agent', async () => {
  const heard: (string | null)[] = [];
  const end = other.channels.onChange((id) => heard.push(id));
  const id = await agent();
  await store.channels.put(change(id));
  for (let n = 0; n < 500 && heard.length === 0; n += 1) await sleep(10);
  end();
  assert.deepEqual(heard, [id]);
});
