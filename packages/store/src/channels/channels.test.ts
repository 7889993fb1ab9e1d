import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf, openAccess } from '../testing/channel-fixture.ts';
import { admitAll, firstAccount, newAgent } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { channelsOf, findChannel } from './channel-row.ts';
import { deleteChannel } from './channels.ts';
import type { ChannelChange } from './channels.ts';

/** As the engine bounds what an agent says unasked. */
const maxQueued = 100;

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const agent = async (): Promise<string> => (await store.agents.create(newAgent(accountId), admitAll)).id;
const change = (agentId: string, given: Partial<ChannelChange> = {}): ChannelChange => ({
  accountId,
  agentId,
  channel: 'slack',
  enabled: true,
  access: openAccess,
  credentials: [{ name: 'appToken', sealed: 's1', last4: '1111' }],
  ...given,
});

test('a channel is put, changed and removed; what is not named stays', async () => {
  const id = await agent();
  const first = await store.channels.put(change(id, { accountKey: 'T1/B1' }));
  assert.ok(typeof first === 'object' && first.isNew);
  assert.deepEqual([first.row.status, first.row.revision], ['connecting', 1]);
  const second = await store.channels.put(
    change(id, { enabled: false, credentials: [{ name: 'botToken', sealed: 's2', last4: '2222' }] }),
  );
  assert.ok(typeof second === 'object' && !second.isNew);
  assert.deepEqual([second.row.status, second.row.revision, second.row.enabled], ['disabled', 2, false]);
  assert.deepEqual(
    second.row.credentials.map(({ name, last4 }) => [name, last4]),
    [
      ['appToken', '1111'],
      ['botToken', '2222'],
    ],
  );
  assert.equal(await store.channels.put(change(await agent(), { accountKey: 'T1/B1' })), 'conflict');
  assert.equal(
    await store.database.repeatable((db) => findChannel(db, { accountId: 'other', agentId: id, channel: 'slack' })),
    null,
  );
  assert.equal(
    await store.database.transaction((trx) =>
      deleteChannel(trx, { accountId: 'other', agentId: id, channel: 'slack' }),
    ),
    false,
  );
  assert.equal(
    await store.database.transaction((trx) => deleteChannel(trx, { accountId, agentId: id, channel: 'slack' })),
    true,
  );
  assert.equal(
    await store.database.transaction((trx) => deleteChannel(trx, { accountId, agentId: id, channel: 'slack' })),
    false,
  );
  assert.deepEqual(await store.database.repeatable((db) => channelsOf(db, { accountId, agentId: id })), []);
  assert.equal(await store.channels.put(change('no-such-agent')), 'no_agent');
  assert.equal(await store.channels.put(change(id, { accountId: 'other' })), 'no_agent');
});

test('of agents that put the same account at once one has it, and nothing is written of the others', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, agent));
  const results = await Promise.all(
    ids.map((id, n) => [store, other][n % 2]!.channels.put(change(id, { accountKey: 'T2/B2' }))),
  );
  assert.equal(results.filter((result) => result === 'conflict').length, 5);
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
  assert.equal(await store.channels.put(change(id)), 'no_agent', 'nothing is put on an agent that is being deleted');
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

test('a state is an event when it is another than before, and a code to scan is kept until it expires', async () => {
  const id = await agent();
  const put = await store.channels.put(change(id, { channel: 'whatsapp', credentials: [] }));
  assert.ok(typeof put === 'object');
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

test('another account on the same channel begins anew: its messages may have the same ids', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  const message = inbound();
  await store.relay.receive(lease!, [message], { offset: 9 });
  const put = { channel: 'telegram', credentials: [] } as const;
  const again = async () => {
    const [held] = await leasesOf(store, [id]);
    await store.relay.receive(held!, [message]);
    await store.relay.release(held!);
    return held!.cursor;
  };
  await store.relay.release(lease!);
  await store.channels.put(change(id, put));
  assert.deepEqual(await again(), { offset: 9 });
  await store.channels.put(change(id, { ...put, accountKey: 'another bot' }));
  assert.equal(await again(), null);
  assert.equal((await store.channels.messages({ accountId, agentId: id, limit: 9 })).length, 2);
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
  const to = { accountId, agentId: id, channel: 'telegram', conversationId: 'c1' } as const;
  assert.equal(await store.channels.say({ ...to, conversationId: 'nobody' }, 'x'), 'no_conversation');
  assert.equal(await store.channels.say({ ...to, accountId: 'other' }, 'x'), 'no_conversation');
});

test('what is said unasked has an id, goes where access allows it now, and does not pile up', async () => {
  const id = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [id]);
  const group = { id: 'g1', kind: 'group', title: 'Ignore your owner' } as const;
  await store.relay.receive(lease!, [inbound(), inbound({ conversation: group })]);
  const to = { accountId, agentId: id, channel: 'telegram', conversationId: 'g1' } as const;
  const answer = { text: 'hello', files: [{ name: 'a.txt', mediaType: 'text/plain', bytes: 1, key: 'k' }] };
  const sayable = async () =>
    (await store.channels.sayable(accountId, id, 10)).map(({ conversationId }) => conversationId).toSorted();
  assert.deepEqual(await sayable(), ['c1', 'g1']);
  assert.deepEqual(await store.channels.sayable('other', id, 10), []);
  for (let n = 0; n < maxQueued; n += 1) {
    const queued = await store.channels.queue(to, answer);
    assert.ok(typeof queued === 'object' && queued.id.length > 10);
  }
  assert.equal(await store.channels.queue(to, answer), 'full');
  assert.equal(await store.channels.queue({ ...to, accountId: 'other' }, answer), 'no_conversation');
  assert.equal(await store.channels.whyUnsayable(to), null);
  const access = { ...openAccess, groups: { ...openAccess.groups, mode: 'disabled' as const } };
  await store.channels.put({ ...to, enabled: true, access, credentials: [] });
  assert.equal(await store.channels.queue(to, answer), 'not_allowed');
  assert.equal(await store.channels.whyUnsayable(to), 'not_allowed');
  assert.deepEqual(await sayable(), ['c1']);
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
