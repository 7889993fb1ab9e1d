import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultAccess } from '@lodge/domain';
import { LeaseLost } from '@lodge/ports';
import type { Lease, Press, Pressed } from '@lodge/ports';
import { execute } from '@lodge/testkit/postgres';
import { agentWithChannel, inbound, leasesOf, openAccess } from '../../../../store/src/testing/channel-fixture.ts';
import { firstAccount } from '../../../../store/src/testing/fixture.ts';
import { testStore } from '../../../../store/src/testing/test-store.ts';
import { closeChoices, queueInConversation } from '../conversations.ts';
import { press } from './pressing.ts';
import type { Chosen } from './pressing.ts';

const { database: server, store } = await testStore();
const { database, relay } = store;
const accountId = await firstAccount(database);
const channel = 'telegram';
const choices = [
  { token: 'yes-1', label: 'Allow' },
  { token: 'no-1', label: 'Deny' },
];
const allowed: Pressed = { say: 'It is allowed.', close: false };

interface Asked {
  readonly agentId: string;
  readonly lease: Lease;
  readonly answerId: string;
  /** Presses, and returns what was taken by it. */
  readonly pressed: (given?: Partial<Press>) => Promise<{ readonly pressed: Pressed; readonly chosen: Chosen | null }>;
}

/** Sends a text of two parts with choices into a conversation. The second part, with the choices, is the message `2`. */
async function asked(state: 'sent' | 'sending' = 'sent'): Promise<Asked> {
  const agentId = await agentWithChannel(store, accountId);
  const [lease] = await leasesOf(store, [agentId]);
  await relay.receive(lease!, [inbound(), inbound({ conversation: { id: 'c2' } })]);
  const to = { accountId, agentId, channel, conversationId: 'c1' } as const;
  const queued = await database.transaction((trx) =>
    queueInConversation(trx, to, { text: 'May I?', files: [], choices }),
  );
  assert.ok(typeof queued === 'object');
  const [whole] = await relay.partsToSend([lease!], 9);
  await relay.split(lease!, whole!.id, [
    { text: 'The request.', format: null },
    { text: 'May I?', format: null },
  ]);
  for (const [id, shown] of [
    ['1', null],
    ['2', choices],
  ] as const) {
    const [part] = await relay.partsToSend([lease!], 9);
    assert.deepEqual(part!.content.kind === 'text' && part!.content.choices, shown);
    assert.equal(await relay.sending(lease!, part!.id), true);
    if (id === '1' || state === 'sent') await relay.sent(lease!, part!.id, id);
  }
  const usual = {
    token: 'yes-1',
    sender: { id: 'u1', name: 'Ann', isBot: false },
    conversation: { id: 'c1', kind: 'direct' },
    messageId: '2',
  } as const;
  return {
    agentId,
    lease: lease!,
    answerId: queued.id,
    pressed: async (given = {}) => {
      let chosen: Chosen | null = null;
      const told = await database.transaction((trx) =>
        press(trx, lease!, { ...usual, ...given }, async (_, taken) => {
          chosen = taken;
          return allowed;
        }),
      );
      return { pressed: told, chosen };
    },
  };
}

test('a press of a choice that stands where it was sent is taken, again and again', async () => {
  const { agentId, answerId, pressed } = await asked();
  const of = { accountId, agentId, channel, conversationId: 'c1', senderId: 'u1', senderName: 'Ann', answerId };
  for (const { token, label } of [...choices, ...choices]) {
    assert.deepEqual(await pressed({ token }), { pressed: allowed, chosen: { ...of, token, label } });
  }
});

test('a press before the send was recorded is taken, in its conversation alone', async () => {
  const { pressed } = await asked('sending');
  assert.ok((await pressed({ messageId: '77' })).chosen);
  assert.equal((await pressed({ messageId: '77', conversation: { id: 'c2', kind: 'direct' } })).chosen, null);
});

test('a message that was forwarded, another conversation and an unknown choice change nothing', async () => {
  const { pressed } = await asked();
  const elsewhere = { id: 'c2', kind: 'direct' } as const;
  for (const given of [
    { conversation: elsewhere },
    { conversation: elsewhere, messageId: '9' },
    { conversation: { id: 'c1/7', kind: 'group' } as const },
    { messageId: '9' },
    { messageId: '' },
    { token: 'yes-2' },
    { token: 'yes-1\0' },
    { conversation: { id: "c1' or true --", kind: 'direct' } as const },
  ]) {
    const { pressed: told, chosen } = await pressed(given);
    assert.equal(chosen, null, JSON.stringify(given));
    assert.deepEqual(told, { say: 'This question is not known here.', close: false });
  }
});

test('a choice of one agent is none of another with the same conversation', async () => {
  const one = await asked();
  const other = await asked();
  await execute(server.connectionString, `update channel_answers set choices = null where id = '${other.answerId}'`);
  assert.equal((await other.pressed()).chosen, null);
  assert.ok((await one.pressed()).chosen);
});

test('who may not write to the agent now may not press, whatever was allowed before', async () => {
  const { agentId, pressed } = await asked();
  const put = (access: typeof openAccess) =>
    database.transaction((trx) =>
      trx
        .updateTable('channels')
        .set({ access: JSON.stringify(access) })
        .where('agentId', '=', agentId)
        .execute(),
    );
  const refused = { pressed: { say: 'You may not answer here.', close: false }, chosen: null };
  assert.deepEqual(await pressed({ sender: { id: 'u1', name: 'x', isBot: true } }), refused);
  for (const mode of ['pairing', 'allowlist', 'disabled'] as const) {
    await put({ ...defaultAccess, mode, allowFrom: mode === 'disabled' ? ['u1'] : ['u2'] });
    assert.deepEqual(await pressed(), refused, mode);
  }
  assert.equal((await relay.partsToSend([(await asked()).lease], 9)).length, 0, 'nobody is sent a code for a press');
  await put({ ...defaultAccess, mode: 'allowlist', allowFrom: ['u1'] });
  assert.ok((await pressed()).chosen);
  await put(openAccess);
  const sender = `insert into channel_senders (agent_id, channel, sender_id, name, state, decided_at)
    values ('${agentId}', 'telegram', 'u1', 'Ann', 'denied', now())`;
  await execute(server.connectionString, sender);
  assert.deepEqual(await pressed(), refused);
});

test('a relay that lost its lease decides nothing', async () => {
  const { agentId, lease, pressed } = await asked();
  await execute(server.connectionString, `update channels set lease_until = now() where agent_id = '${agentId}'`);
  await assert.rejects(pressed(), LeaseLost);
  await assert.rejects(relay.press({ ...lease, number: lease.number + 1 }, {} as Press), LeaseLost);
});

test('without anybody who takes it, a choice is not known any more, and its buttons go', async () => {
  const { lease } = await asked();
  const sender = { id: 'u1', name: 'Ann', isBot: false };
  const given: Press = { token: 'no-1', sender, conversation: { id: 'c1', kind: 'direct' }, messageId: '2' };
  assert.deepEqual(await relay.press(lease, given), { say: 'This question is not known any more.', close: true });
});

test('choices are closed once, by an edit of the message that had them, in the order of the conversation', async () => {
  const { lease, answerId, agentId } = await asked();
  const close = (text: string) => database.transaction((trx) => closeChoices(trx, { channel, answerId }, text));
  const to = { accountId, agentId, channel, conversationId: 'c1' } as const;
  await database.transaction((trx) => queueInConversation(trx, to, { text: 'Meanwhile.', files: [] }));
  assert.deepEqual([await close('Allowed.'), await close('Denied.')], [true, false]);
  const kinds: unknown[] = [];
  for (;;) {
    const [part] = await relay.partsToSend([lease], 9);
    if (part === undefined) break;
    kinds.push(part.content);
    if (part.content.kind === 'markdown') {
      await relay.split(lease, part.id, [{ text: part.content.markdown, format: null }]);
      continue;
    }
    assert.equal(await relay.sending(lease, part.id), true);
    await relay.sent(lease, part.id, '3');
  }
  assert.deepEqual(kinds, [
    { kind: 'markdown', markdown: 'Meanwhile.' },
    { kind: 'text', text: 'Meanwhile.', format: null, choices: null },
    { kind: 'edit', markdown: 'Allowed.', messageId: '2' },
  ]);
});

test('choices beyond their bounds are a mistake of ours, and queue nothing', async () => {
  const { agentId, lease } = await asked();
  const to = { accountId, agentId, channel, conversationId: 'c1' } as const;
  const answer = { text: 'x', files: [], choices: [{ token: 'a b', label: 'x' }] };
  await assert.rejects(
    database.transaction((trx) => queueInConversation(trx, to, answer)),
    RangeError,
  );
  assert.deepEqual(await relay.partsToSend([lease], 9), []);
});

test('choices outlive other notices by a month, and go with what edited them', async () => {
  const { answerId } = await asked();
  await database.transaction((trx) => closeChoices(trx, { channel, answerId }, 'Allowed.'));
  const ended = async (days: number) => {
    await execute(
      server.connectionString,
      `update channel_answers set state = 'sent', ended_at = now() - case when choices is null then 2 else ${days} end * interval '1 day'`,
    );
    await relay.prune();
    const rows = await execute<{ id: string }>(
      server.connectionString,
      `select id from channel_answers where id = '${answerId}' or edits = '${answerId}'`,
    );
    return rows.length;
  };
  assert.equal(await ended(30), 1);
  assert.equal(await ended(32), 0);
});
