import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startDiscordStub } from '@lodge/testkit/discord';
import type { DiscordStub } from '@lodge/testkit/discord';
import { pressOf } from './choices.ts';
import { connectedAt, dm, roomOf } from './testing/world.ts';

const user = { id: '600000000000000001', username: 'ann', global_name: 'Ann' };
const interaction = {
  id: '500000000000000009',
  type: 3,
  token: 'aW50_.-=',
  channel_id: '500000000000000002',
  channel: { id: '500000000000000002', type: 0 },
  guild_id: '700000000000000001',
  member: { user, nick: 'Annie' },
  message: { id: '500000000000000008' },
  data: { custom_id: 'yes-1', component_type: 2 },
};

test('a press is of the person whom Discord names, and anything else is none', () => {
  const of = (more: object) => pressOf({ ...interaction, ...more });
  assert.deepEqual(of({})!.press, {
    token: 'yes-1',
    sender: { id: user.id, name: 'Annie', isBot: false },
    messageId: '500000000000000008',
  });
  assert.equal(of({ guild_id: undefined, member: undefined, user })!.room!.isDirect, true);
  const parent = '500000000000000001';
  assert.equal(of({ channel: { type: 11, parent_id: parent } })!.room!.parentId, parent);
  for (const channel of [undefined, {}, { type: 11 }]) assert.equal(of({ channel })!.room, null);
  for (const wrong of [
    { type: 2 },
    { id: '../1' },
    { channel_id: 7 },
    { member: undefined },
    { member: { user: { id: 'x' } } },
    { message: undefined },
    { message: { id: '1/2' } },
    { token: 'a/../b' },
    { token: 'x'.repeat(501) },
    { data: { custom_id: 'x'.repeat(65), component_type: 2 } },
    { data: { custom_id: 'a b', component_type: 2 } },
    { data: { custom_id: 'yes-1', component_type: 3 } },
  ]) {
    assert.equal(of(wrong), null, JSON.stringify(wrong));
  }
  for (const wrong of [null, [], 'x', {}]) assert.equal(pressOf(wrong), null);
});

describe('presses of a Discord bot', { timeout: 30_000 }, () => {
  let stub: DiscordStub;
  before(async () => {
    stub = await startDiscordStub();
  });
  after(() => stub.close());

  test('a press in a thread without its parent is one of its conversation, and a press after a resume is taken', async (t) => {
    const { bot, gateway, host, connection } = await connectedAt(stub, t);
    const thread = roomOf(bot, { id: '500000000000000003', type: 11, parent_id: '500000000000000002' });
    stub.write(bot, { channel: thread, text: 'do it', mention: true });
    const { conversation } = await host.message('do it');
    const to = {
      conversationId: conversation.id,
      conversationKind: 'group',
      replyTo: null,
      index: 0,
      count: 1,
      sentIds: [],
    } as const;
    const part = { kind: 'text', text: 'May I?', format: null, choices: [{ token: 'yes-1', label: 'Allow' }] } as const;
    const { id: messageId } = await connection.send(to, part, 'key', AbortSignal.timeout(5_000));
    const press = stub.press(bot, { messageId, label: 'Allow', extra: { channel: undefined } });
    await host.until(() => bot.told.has(press), 'the answer');
    assert.deepEqual(host.presses[0]!.conversation, { id: conversation.id, kind: 'group' });
    stub.isDown = true;
    gateway.cut();
    await host.reaches('disconnected');
    const missed = stub.press(bot, { messageId, label: 'Allow' });
    stub.isDown = false;
    await host.until(() => bot.told.has(missed), 'the answer to the missed press');
    assert.equal(host.presses.length, 2);
  });

  test('a press that cannot be committed in time is not answered, and ends nothing', async (t) => {
    const { bot, host, connection } = await connectedAt(stub, t);
    stub.write(bot, { channel: dm, text: 'do it' });
    await host.message('do it');
    const to = {
      conversationId: dm.id,
      conversationKind: 'direct',
      replyTo: null,
      index: 0,
      count: 1,
      sentIds: [],
    } as const;
    const part = { kind: 'text', text: 'May I?', format: null, choices: [{ token: 'yes-1', label: 'Allow' }] } as const;
    const { id: messageId } = await connection.send(to, part, 'key', AbortSignal.timeout(5_000));
    host.behaviour = 'hang';
    const press = stub.press(bot, { messageId, label: 'Allow' });
    for (let more = 0; more < 40; more += 1) stub.press(bot, { messageId, label: 'Allow' });
    await host.until(() => host.presses.length >= 20, 'the presses');
    assert.equal(host.presses.length, 20, 'a bounded number is under way');
    host.behaviour = 'commit';
    stub.write(bot, { channel: dm, text: 'go on' });
    await host.message('go on');
    assert.equal(bot.told.has(press), false);
  });
});
