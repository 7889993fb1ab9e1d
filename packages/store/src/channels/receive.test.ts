import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultAccess, pairingBounds, readPairingCode } from '@lodge/domain';
import type { ChannelAccess } from '@lodge/domain';
import { LeaseLost } from '@lodge/ports';
import type { Lease } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf, openAccess } from '../testing/channel-fixture.ts';
import { firstAccount } from '../testing/fixture.ts';
import { testStore } from '../testing/test-store.ts';
import { decideSender, senderDecidedBy, sendersOf } from './senders.ts';

const { database, store, another } = await testStore();
const other = await another();
const accountId = await firstAccount(store.database);
const run = <Row extends Record<string, unknown>>(statement: string) =>
  execute<Row>(database.connectionString, statement);

async function open(access: Partial<ChannelAccess> = {}): Promise<{ id: string; lease: Lease }> {
  const id = await agentWithChannel(store, accountId, { access: { ...openAccess, ...access } });
  const [lease] = await leasesOf(store, [id]);
  return { id, lease: lease! };
}

const messagesOf = (agentId: string) => store.channels.messages({ accountId, agentId, limit: 1_000 });
const placeOf = (agentId: string) => ({ accountId, agentId, channel: 'telegram' }) as const;
const sendersOfAgent = (agentId: string, state?: 'pending') =>
  store.database.repeatable((db) => sendersOf(db, placeOf(agentId), state));
const decide = (agentId: string, code: string, state: 'approved' | 'denied' = 'approved') =>
  store.database.transaction((trx) => decideSender(trx, placeOf(agentId), readPairingCode(code), state));

test('a message that is delivered again, also at once by two connections, is taken up once', async () => {
  const { id, lease } = await open();
  const message = inbound();
  await Promise.all(
    Array.from({ length: 10 }, (_, n) => [store, other][n % 2]!.relay.receive(lease, [message, message, inbound()])),
  );
  const texts = (await messagesOf(id)).map(({ text }) => text);
  assert.equal(texts.length, 11);
  assert.equal(texts.filter((text) => text === message.text).length, 1);
  const page = await store.events.page({
    accountId,
    types: ['message.received'],
    agentId: id,
    direction: 'asc',
    limit: 99,
  });
  assert.equal(page.length, 11);
});

test('messages and place are committed together, or neither', async () => {
  const { id, lease } = await open();
  await store.relay.receive(lease, [inbound()], { offset: 1 });
  await assert.rejects(
    store.relay.receive(
      lease,
      Array.from({ length: 101 }, () => inbound()),
      { offset: 2 },
    ),
    RangeError,
  );
  const rows = await run<{ cursor: unknown }>(`select cursor from channels where agent_id = '${id}'`);
  assert.deepEqual(rows[0]!.cursor, { offset: 1 });
  assert.equal((await messagesOf(id)).length, 1);
  await store.relay.vaultSet(lease, [{ type: 't', id: '1', sealed: 's' }], [inbound()]);
  await assert.rejects(
    store.relay.vaultSet(
      lease,
      [{ type: 't', id: '1', sealed: 'other' }],
      Array.from({ length: 101 }, () => inbound()),
    ),
    RangeError,
  );
  assert.deepEqual(await store.relay.vaultGet(lease, 't', ['1', '2']), { 1: 's' });
  assert.equal((await messagesOf(id)).length, 2);
});

test('an unknown sender is told one code an hour; its owner hears of it; once approved the messages are turns', async () => {
  const { id, lease } = await open({ mode: 'pairing' });
  for (let n = 0; n < 3; n += 1) await store.relay.receive(lease, [inbound(), inbound()]);
  const parts = await store.relay.partsToSend([lease], 9);
  assert.equal(parts.length, 1);
  const [sender] = await sendersOfAgent(id, 'pending');
  assert.match((parts[0]!.content as { markdown: string }).markdown, new RegExp(sender!.code!));
  const events = () =>
    store.events.page({ accountId, types: ['channel.access_requested'], agentId: id, direction: 'asc', limit: 9 });
  assert.deepEqual(
    (await events()).map(({ data }) => data),
    [{ channel: 'telegram', sender_id: 'u1', sender_name: 'Ann', code: sender!.code }],
  );
  await run(`update channel_senders set asked_at = asked_at - interval '61 minutes' where agent_id = '${id}'`);
  await store.relay.receive(lease, [inbound()]);
  assert.equal((await events()).length, 2);
  assert.equal((await sendersOfAgent(id))[0]!.code, sender!.code);

  assert.equal(await decide(id, 'ABCDEFGH'), undefined);
  const decided = await decide(id, ` ${sender!.code!.toLowerCase()} `);
  assert.deepEqual([decided!.state, decided!.code, decided!.senderId], ['approved', null, 'u1']);
  assert.equal(await decide(id, sender!.code!), undefined, 'a code decides once');
  await store.relay.receive(lease, [inbound({ text: 'now' })]);
  const [last, ...earlier] = await messagesOf(id);
  assert.deepEqual([last!.state, last!.text], ['received', 'now']);
  assert.ok(earlier.every(({ state, reason }) => state === 'refused' && reason === 'The sender is not approved yet.'));
});

test('a message whose body was not fetched never becomes a turn, also where its sender was let in since', async () => {
  const { id, lease } = await open({ mode: 'pairing', allowFrom: ['friend'] });
  const [stranger, friend] = [inbound({ isUnread: true, text: 'Subject: x' }), inbound({ sender: { id: 'friend' } })];
  assert.equal(await store.relay.admits(lease, stranger), false);
  assert.equal(await store.relay.admits(lease, friend), true);
  await store.relay.receive(lease, [stranger, { ...friend, isUnread: true }]);
  const states = (await messagesOf(id)).map(({ state, reason }) => [state, reason]);
  assert.deepEqual(states, [
    ['refused', 'The sender was let in after the message came, and its text was not fetched.'],
    ['refused', 'The sender is not approved yet.'],
  ]);
  assert.equal((await sendersOfAgent(id, 'pending')).length, 1, 'the stranger has a code');
  await assert.rejects(store.relay.admits({ ...lease, number: lease.number + 1 }, friend), LeaseLost);
});

test('a flood of strangers leaves a bounded number of rows, and a friend still comes through', async () => {
  const { id, lease } = await open({ mode: 'pairing', allowFrom: ['friend'] });
  for (let batch = 0; batch < 10; batch += 1) {
    const from = (n: number) => inbound({ sender: { id: `s${batch}-${n}` }, conversation: { id: `c${batch}-${n}` } });
    await store.relay.receive(
      lease,
      Array.from({ length: 100 }, (_, n) => from(n)),
    );
  }
  await store.relay.receive(
    lease,
    Array.from({ length: 100 }, () => inbound({ sender: { id: 's0-0' } })),
  );
  await store.relay.receive(lease, [inbound({ sender: { id: 'friend' }, text: 'hi' })]);
  const [counts] = await run(`
    select (select count(*)::int from channel_senders where agent_id = '${id}') as senders,
      (select count(*)::int from channel_messages where agent_id = '${id}') as messages,
      (select count(*)::int from channel_conversations where agent_id = '${id}') as conversations,
      (select count(*)::int from channel_seen where agent_id = '${id}') as seen,
      (select count(*)::int from channel_parts where agent_id = '${id}') as parts,
      (select refused_count::int from channels where agent_id = '${id}') as refused
  `);
  const { pending } = pairingBounds;
  assert.deepEqual(counts, {
    senders: pending,
    messages: 201,
    conversations: pending + 1,
    seen: 201,
    parts: pending,
    refused: 900,
  });
  const [sender] = await run<{ n: number }>(
    `select refused_count::int as n from channel_senders where agent_id = '${id}' and sender_id = 's0-0'`,
  );
  assert.equal(sender!.n, 100);
  assert.equal((await messagesOf(id))[0]!.text, 'hi');
});

test('strangers keep nobody out: the code told longest ago gives way once it has held a while, and codes end', async () => {
  const { id, lease } = await open({ mode: 'pairing' });
  const from = (sender: string) => inbound({ sender: { id: sender }, conversation: { id: sender } });
  const pending = async () => new Map((await sendersOfAgent(id, 'pending')).map((each) => [each.senderId, each]));
  const later = (minutes: number, senders: string) =>
    run(`
      update channel_senders set asked_at = asked_at - interval '${minutes} minutes'
      where agent_id = '${id}' and sender_id like '${senders}'
    `);
  const names = Array.from({ length: pairingBounds.pending }, (_, n) => `s${n}`);
  for (let at = 0; at < names.length; at += 100) await store.relay.receive(lease, names.slice(at, at + 100).map(from));
  await later(1, 's7');
  await store.relay.receive(lease, [from('friend')]);
  assert.ok(!(await pending()).has('friend'), 'codes that were told a moment ago hold');
  await later(11, 's%');
  await store.relay.receive(lease, [from('colleague')]);
  const { size } = await pending();
  assert.deepEqual([size, (await pending()).has('colleague')], [pairingBounds.pending, true], 'one gave way by chance');
  await run(`delete from channel_senders where agent_id = '${id}' and sender_id = 'colleague'`);
  await run(`
    insert into channel_senders (agent_id, channel, sender_id, name, state, code)
    select '${id}', 'telegram', n, n, 'pending', 'again' || n from unnest('{${names.join()}}'::text[]) n on conflict do nothing
  `);
  await later(61, 's%');
  const before = await pending();
  // A sender who waits already takes nobody's place.
  await store.relay.receive(lease, [from('s3'), from('friend'), from('friend')]);
  const after = await pending();
  assert.deepEqual(
    [after.size, after.has('s7'), after.get('s3')!.code],
    [pairingBounds.pending, false, before.get('s3')!.code],
  );
  assert.equal(await decide(id, before.get('s7')!.code!), undefined);
  const { code } = after.get('friend')!;
  await later(24 * 60, '%');
  assert.deepEqual(await pending(), new Map());
  assert.equal(await decide(id, code!), undefined);
  await store.relay.receive(lease, [from('friend')]);
  const fresh = (await pending()).get('friend')!.code!;
  assert.notEqual(fresh, code);
  assert.equal((await decide(id, fresh))!.senderId, 'friend');
});

test('few strangers do not take turns to keep others out: who gave way is told no code again within the hour', async () => {
  const { id, lease } = await open({ mode: 'pairing' });
  const names = Array.from({ length: pairingBounds.pending + 1 }, (_, n) => `s${n}`);
  const all = async () => {
    for (let at = 0; at < names.length; at += 100) {
      const some = names.slice(at, at + 100);
      await store.relay.receive(
        lease,
        some.map((name) => inbound({ sender: { id: name }, conversation: { id: name } })),
      );
    }
  };
  await all();
  // The time is far from either end of the hour, because on a busy host the rounds themselves take minutes.
  await run(`update channel_senders set asked_at = asked_at - interval '30 minutes' where agent_id = '${id}'`);
  for (let round = 0; round < 3; round += 1) await all();
  const [codes] = await run<{ all: number; most: number }>(`
    select sum(n)::int as all, max(n)::int as most from (
      select count(*) as n from channel_answers a join channel_conversations v on v.id = a.conversation
      where v.agent_id = '${id}' group by v.id
    ) each
  `);
  assert.deepEqual(codes, { all: names.length, most: 1 }, 'the newcomer is told one, and who gave way no other');
});

test('a sender beyond the hourly limit is refused, also within one batch, until the hour is over', async () => {
  const { id, lease } = await open({ perSenderHourly: 3 });
  await store.relay.receive(lease, [inbound(), inbound()]);
  await store.relay.receive(lease, [inbound(), inbound(), inbound({ sender: { id: 'u2' } })]);
  const states = async () => (await messagesOf(id)).map(({ state }) => state).toReversed();
  assert.deepEqual(await states(), ['received', 'received', 'received', 'refused', 'received']);
  await run(`update channel_messages set received_at = received_at - interval '61 minutes' where agent_id = '${id}'`);
  await store.relay.receive(lease, [inbound()]);
  assert.equal((await states()).at(-1), 'received');
});

test('what addresses nobody in a group, and what a bot says, leaves nothing', async () => {
  const { id, lease } = await open({ groups: { ...defaultAccess.groups, mode: 'open' } });
  const group = { id: 'g', kind: 'group', title: 'Team' } as const;
  await store.relay.receive(lease, [
    inbound({ addressed: false, conversation: group }),
    inbound({ sender: { isBot: true } }),
    inbound({ conversation: group, text: 'you' }),
  ]);
  assert.deepEqual(
    (await messagesOf(id)).map(({ text, conversationKind }) => [text, conversationKind]),
    [['you', 'group']],
  );
});

test('texts that Postgres cannot hold are kept without what it cannot', async () => {
  const { id, lease } = await open();
  const bad = 'a\0b\ud800c';
  await store.relay.receive(
    lease,
    [inbound({ text: bad, replyTo: { x: bad }, sender: { id: bad, name: bad }, sentAt: new Date(Number.NaN) })],
    { at: bad },
  );
  const [message] = await messagesOf(id);
  assert.deepEqual([message!.text, message!.senderId], ['ab\ufffdc', 'ab\ufffdc']);
});

test('ids outlive pruned messages, so that an old delivery is no new message', async () => {
  const { id, lease } = await open({ mode: 'allowlist', allowFrom: ['u1'] });
  const message = inbound();
  await store.relay.receive(lease, [message, inbound({ sender: { id: 'x' } })]);
  await run(`
    update channel_messages set received_at = received_at - interval '31 days', state = 'answered' where agent_id = '${id}'
  `);
  await run(`update channel_seen set at = at - interval '8 days' where agent_id = '${id}'`);
  await store.relay.prune();
  assert.deepEqual(await messagesOf(id), []);
  await store.relay.receive(lease, [message]);
  assert.deepEqual(await messagesOf(id), []);
  await run(`update channel_seen set at = at - interval '8 days' where agent_id = '${id}'`);
  await store.relay.prune();
  assert.deepEqual(await run(`select from channel_seen where agent_id = '${id}'`), []);
});

test('a decision that is asked for again by its code is found, whatever was decided since', async () => {
  const { id, lease } = await open({ mode: 'pairing' });
  const from = (sender: string) => inbound({ sender: { id: sender }, conversation: { id: sender } });
  await store.relay.receive(lease, [from('u1'), from('u2')]);
  const asked = await sendersOfAgent(id, 'pending');
  const codeOf = (senderId: string): string => asked.find((each) => each.senderId === senderId)!.code!;
  const first = await decide(id, codeOf('u1'), 'denied');
  await decide(id, codeOf('u2'));
  const decided = (code: string, account = accountId) =>
    store.database.repeatable((db) =>
      senderDecidedBy(db, { ...placeOf(id), accountId: account }, readPairingCode(code)),
    );
  assert.deepEqual(await decided(` ${codeOf('u1').toLowerCase()}`), first);
  assert.equal((await decided(codeOf('u2')))!.senderId, 'u2');
  assert.equal(await decided('ABCDEFGH'), undefined);
  assert.equal(await decided(codeOf('u1'), 'other'), undefined);
});
