import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf } from './inbound.ts';
import type { BotIdentity } from './identity.ts';

const bot = { id: 7, username: 'own_bot' } as BotIdentity;
const command = (text: string) =>
  messageOf(
    {
      message: {
        message_id: 1,
        date: 1,
        chat: { id: -5, type: 'supergroup', title: 'Friends' },
        from: { id: 9, first_name: 'Ann' },
        text,
        entities: [{ type: 'bot_command', offset: 0, length: text.length }],
      },
    },
    bot,
  );

test('a command for another bot of the group is none of ours', () => {
  assert.equal(command('/new@other_bot'), null);
  assert.equal(command('/new@own_bot')?.addressed, true);
  assert.equal(command('/new')?.text, '/new');
});
