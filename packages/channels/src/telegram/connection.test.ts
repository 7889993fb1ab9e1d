import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '@lodge/domain';
import { startTelegramStub } from '@lodge/testkit/telegram';
import type { BotOptions, StubBot, TelegramStub } from '@lodge/testkit/telegram';
import { Kept, TestHost } from '../../conformance/host.ts';
import { createTelegram } from './telegram.ts';
import { quickTimings } from './testing/timings.ts';

describe('connection of a Telegram bot', { timeout: 30_000 }, () => {
  let stub: TelegramStub;
  before(async () => {
    stub = await startTelegramStub();
  });
  after(() => stub.close());

  const open = (
    t: TestContext,
    cursor: Json | null = null,
    options: BotOptions = {},
  ): { bot: StubBot; host: TestHost } => {
    const bot = stub.bot(options);
    return { bot, host: connect(t, bot, cursor) };
  };
  const connect = (t: TestContext, bot: StubBot, cursor: Json | null): TestHost => {
    const credentials = { botToken: bot.token };
    const host = new TestHost(new Kept(credentials));
    const platform = createTelegram({ apiRoot: stub.apiRoot, timings: quickTimings });
    const connection = platform.connect({ agentId: 'a', credentials, wantsUnaddressed: true, cursor }, host);
    t.after(() => connection.close());
    return host;
  };
  const reasonOf = (host: TestHost) => {
    const state = host.states.at(-1)!;
    return 'reason' in state ? state.reason : null;
  };

  test('another poller is named, and the bot is connected again when that one has gone', async (t) => {
    const { bot, host } = open(t);
    await host.reaches('connected');
    await host.until(() => bot.isPolled, 'a poll');
    bot.pollElsewhere();
    await host.reaches('disconnected');
    assert.equal(reasonOf(host)!.code, 'used_elsewhere');
    bot.userWrites({ text: 'hello' });
    await host.message('hello');
    await host.reaches('connected');
  });

  test('while two poll in turn, the bot does not seem connected in between', async (t) => {
    const { bot, host } = open(t);
    await host.reaches('connected');
    for (let round = 0; round < 3; round += 1) {
      await host.until(() => bot.isPolled, 'a poll');
      await sleep(50);
      bot.pollElsewhere();
      await host.reaches('disconnected');
    }
    assert.deepEqual(
      host.states.map(({ status }) => status),
      ['connecting', 'connected', 'disconnected'],
    );
  });

  test('a webhook is named by its host alone, and the bot is connected when it is removed', async (t) => {
    const { bot, host } = open(t);
    await host.reaches('connected');
    bot.setWebhook('https://user:pass@hooks.example.com/very/secret?key=1');
    await host.reaches('disconnected');
    const reason = reasonOf(host)!;
    assert.equal(reason.code, 'used_elsewhere');
    assert.ok(reason.message.includes('hooks.example.com'));
    assert.ok(!/secret|pass|key=/.test(reason.message));
    bot.setWebhook('');
    await host.reaches('connected');
  });

  test('a webhook is told when the token is verified', async () => {
    const bot = stub.bot();
    bot.setWebhook('https://hooks.example.com/x');
    const platform = createTelegram({ apiRoot: stub.apiRoot, timings: quickTimings });
    await assert.rejects(
      platform.verify!({ botToken: bot.token }, new AbortController().signal),
      /hooks\.example\.com/,
    );
  });

  test('polls that bring nothing though messages wait are deafness, and are told until they bring them', async (t) => {
    const { bot, host } = open(t);
    await host.reaches('connected');
    bot.misbehave('deaf');
    bot.userWrites({ text: 'are you there?' });
    await host.reaches('disconnected');
    assert.equal(reasonOf(host)!.code, 'deaf');
    bot.misbehave('mended');
    await host.message('are you there?');
    await host.reaches('connected');
  });

  test('an update larger than the bounds is left out, and those around it come', async (t) => {
    const { bot, host } = open(t);
    await host.reaches('connected');
    host.behaviour = 'reject';
    bot.userWrites({ text: 'before' });
    await host.until(() => host.attempts > 0, 'a try');
    bot.userWrites({ text: 'small' });
    bot.push({ message: { text: 'x'.repeat(3_000_000) } });
    bot.push({ message: { entities: Array.from({ length: 60_000 }, () => ({})) } });
    bot.userWrites({ text: 'after' });
    host.behaviour = 'commit';
    await host.message('after');
    assert.deepEqual(
      host.kept.messages.map(({ text }) => text),
      ['before', 'small', 'after'],
    );
  });

  test('updates of shapes that Telegram does not make hold nothing up', async (t) => {
    const { bot, host } = open(t);
    await host.reaches('connected');
    const chat = { id: 7, type: 'private' };
    const from = { id: 7, is_bot: false, first_name: 'Ann' };
    const odd: readonly unknown[] = [
      null,
      7,
      [],
      {},
      { message_id: 'x', chat, from, text: 'a' },
      { message_id: 1, chat: { id: 1e300, type: 'private' }, from, text: 'b' },
      { message_id: 1, chat, from: { id: {} }, text: 'c' },
      { message_id: 1, chat, from, text: {} },
      { message_id: 1, chat, from, photo: [null, 7, { file_id: '../../x' }] },
      {
        message_id: 2,
        chat,
        from,
        text: 'odd entities',
        entities: [null, { type: 'mention', offset: -1, length: 1e9 }, 7],
      },
      { message_id: 3, chat, from, text: 'odd time', date: 1e300 },
    ];
    for (const message of odd) bot.push({ message });
    bot.push({ edited_message: { message_id: 4, chat, from, text: 'edited' } });
    bot.userWrites({ text: 'last' });
    await host.message('last');
    assert.deepEqual(
      host.kept.messages.map(({ text }) => text),
      ['odd entities', 'odd time', 'last'],
    );
  });

  test('one broken poll, and one refusal of the token, are no news', async (t) => {
    const { bot, host } = open(t);
    await host.reaches('connected');
    bot.cutNext('getUpdates');
    bot.userWrites({ text: 'one' });
    await host.message('one');
    bot.failNext('getUpdates', { code: 401, description: 'Unauthorized' });
    bot.userWrites({ text: 'two' });
    bot.userWrites({ text: 'three' });
    await host.message('three');
    assert.ok(host.states.every(({ status }) => status !== 'error'));
    assert.equal(host.status, 'connected');
  });

  test('a limit is waited for', async (t) => {
    const { bot, host } = open(t);
    await host.until(() => bot.isPolled, 'an open poll');
    bot.failNext('getUpdates', {
      code: 429,
      description: 'Too Many Requests: retry after 1',
      parameters: { retry_after: 1 },
    });
    bot.userWrites({ text: 'first' });
    await host.message('first');
    await host.reaches('disconnected');
    assert.equal(reasonOf(host)!.code, 'rate_limited');
    const before = Date.now();
    await host.reaches('connected');
    assert.ok(Date.now() - before > 800);
  });

  test('updates that are counted anew from a lower number are taken', async (t) => {
    const { bot, host } = open(t);
    bot.userWrites({ text: 'last week' });
    await host.message('last week');
    bot.countFrom(50);
    bot.userWrites({ text: 'this week' });
    bot.userWrites({ text: 'and more' });
    await host.message('and more');
    assert.deepEqual(host.kept.cursor, { bot: String(bot.id), offset: 52 });
  });

  test('a server that answers every poll at once is asked about once a second', async (t) => {
    for (const result of ['[]', '[{}]', '{}']) {
      let asked = 0;
      const server = createServer((req, res) => {
        asked += 1;
        res.end(req.url!.endsWith('/getMe') ? '{"ok":true,"result":{"id":7}}' : `{"ok":true,"result":${result}}`);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const credentials = { botToken: `7:${'S'.repeat(35)}` };
      const platform = createTelegram({ apiRoot, timings: quickTimings });
      const account = { agentId: 'a', credentials, wantsUnaddressed: true, cursor: null };
      const connection = platform.connect(account, new TestHost(new Kept(credentials)));
      t.after(() => server.close());
      await sleep(1_000);
      await connection.close();
      assert.ok(asked < 40, `${result}: ${asked} requests`);
    }
  });

  test('the place of another bot is none', async (t) => {
    const { bot, host } = open(t, { bot: '1', offset: 100_000_500 });
    bot.userWrites({ text: 'hello' });
    await host.message('hello');
  });

  test('privacy mode is noted where messages to nobody are wanted', async (t) => {
    const { bot, host } = open(t, null, { readsAllGroupMessages: false });
    await host.reaches('connected');
    const state = host.states.at(-1)!;
    assert.ok(state.status === 'connected' && state.note?.includes('/setprivacy'));
    assert.equal(bot.userWrites({ in: 'group', text: 'to nobody' }), null);
  });
});
