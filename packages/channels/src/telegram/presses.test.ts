import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { startTelegramStub } from '@lodge/testkit/telegram';
import type { StubBot, TelegramStub } from '@lodge/testkit/telegram';
import { Kept, TestHost } from '../../conformance/host.ts';
import { keyboardOf, pressOf } from './presses.ts';
import { createTelegram } from './telegram.ts';
import { quickTimings } from './testing/timings.ts';

const query = {
  id: '4382',
  from: { id: 9, is_bot: false, first_name: 'Ann' },
  message: { message_id: 3, date: 1, chat: { id: -5, type: 'supergroup', title: 'Friends' } },
  chat_instance: '1',
  data: 'yes-1',
};

test('a press in a topic is one of its conversation, and one without its message is none', () => {
  const press = (more: object) => pressOf({ update_id: 1, callback_query: { ...query, ...more } });
  const topic = { ...query.message, is_topic_message: true, message_thread_id: 7 };
  assert.equal(press({})!.press.conversation.id, '-5');
  assert.equal(press({ message: topic })!.press.conversation.id, '-5/7');
  // A message that is too old for its content has its place, and the date 0.
  assert.equal(press({ message: { ...query.message, date: 0 } })!.press.messageId, '3');
  for (const wrong of [
    { message: undefined, inline_message_id: 'x' },
    { message: { ...query.message, chat: { id: 5, type: 'channel' } } },
    { message: { ...query.message, message_id: '3' } },
    { data: undefined, game_short_name: 'x' },
    { data: 'x'.repeat(65) },
    { data: 'a b' },
    { data: { yes: 1 } },
    { from: undefined },
    { from: { id: {} } },
    { id: {} },
  ]) {
    assert.equal(press(wrong), null, JSON.stringify(wrong));
  }
  for (const update of [{}, { callback_query: null }, { callback_query: 'x' }, { callback_query: [] }]) {
    assert.equal(pressOf(update), null);
  }
});

test('short labels share a row', () => {
  const rows = (...labels: readonly string[]) =>
    keyboardOf(labels.map((label) => ({ token: 't', label }))).inline_keyboard.map((row) =>
      row.map(({ text }) => text),
    );
  assert.deepEqual(rows('Allow', 'Deny'), [['Allow', 'Deny']]);
  assert.deepEqual(rows('x'.repeat(40), 'Allow', 'y'.repeat(26)), [['x'.repeat(40)], ['Allow'], ['y'.repeat(26)]]);
});

describe('presses of a Telegram bot', { timeout: 30_000 }, () => {
  let stub: TelegramStub;
  before(async () => {
    stub = await startTelegramStub();
  });
  after(() => stub.close());

  const open = async (t: TestContext): Promise<{ bot: StubBot; host: TestHost }> => {
    const bot = stub.bot();
    const credentials = { botToken: bot.token };
    const host = new TestHost(new Kept(credentials));
    const platform = createTelegram({ apiRoot: stub.apiRoot, timings: quickTimings });
    const connection = platform.connect({ agentId: 'a', credentials, wantsUnaddressed: true, cursor: null }, host);
    t.after(() => connection.close());
    bot.userWrites({ text: 'do it' });
    const { conversation } = await host.message('do it');
    const to = {
      conversationId: conversation.id,
      conversationKind: 'direct',
      replyTo: null,
      index: 0,
      count: 1,
      sentIds: [],
    } as const;
    const choices = [{ token: 'yes-1', label: 'Allow' }];
    await connection.send(to, { kind: 'text', text: 'May I?', format: null, choices }, 'k', AbortSignal.timeout(5_000));
    return { bot, host };
  };

  test('a press is acknowledged only after its commit', async (t) => {
    const { bot, host } = await open(t);
    host.behaviour = 'hang';
    const press = bot.userPresses({ label: 'Allow' });
    await host.until(() => host.presses.length === 1, 'the press');
    assert.deepEqual([bot.pending, bot.told.get(press)], [1, undefined]);
  });

  test('a press that comes twice is handed on twice, as the same', async (t) => {
    const { bot, host } = await open(t);
    bot.userPresses({ label: 'Allow' });
    await host.until(() => bot.pending === 0, 'the acknowledgement');
    bot.redeliver();
    await host.until(() => host.presses.length === 2, 'the press again');
    assert.deepEqual(host.presses[0], host.presses[1]);
  });

  test('a token of another form, and a message that this bot did not send, hold nothing up', async (t) => {
    const { bot, host } = await open(t);
    bot.userPresses({ label: 'Allow', data: '<script>' });
    bot.userPresses({ label: 'Allow', data: 'x'.repeat(64), from: { name: 'x'.repeat(1_000) } });
    bot.userPresses({ label: 'Allow', extra: { message: null, inline_message_id: 'x' } });
    bot.userWrites({ text: 'after' });
    await host.message('after');
    assert.deepEqual(
      host.presses.map(({ token }) => token),
      ['x'.repeat(64)],
    );
  });

  test('a sentence that cannot be told ends nothing', async (t) => {
    const { bot, host } = await open(t);
    bot.failNext('answerCallbackQuery', {
      code: 429,
      description: 'Too Many Requests',
      parameters: { retry_after: 9 },
    });
    bot.cutNext('editMessageReplyMarkup');
    host.pressAnswer = { say: 'x', close: true };
    const press = bot.userPresses({ label: 'Allow' });
    await host.until(() => bot.pending === 0 && bot.calls.includes('editMessageReplyMarkup'), 'the acknowledgement');
    assert.equal(bot.told.get(press), undefined);
    bot.userWrites({ text: 'after' });
    await host.message('after');
  });
});
