import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SendFailure } from '@lodge/ports';
import type { OutboundPart, SendTarget } from '@lodge/ports';
import { startTelegramStub } from '@lodge/testkit/telegram';
import type { StubBot, TelegramStub } from '@lodge/testkit/telegram';
import { BotApi, serverAt } from './api.ts';
import { openFile } from './files.ts';
import { Sender } from './send.ts';
import { quickTimings } from './testing/timings.ts';

const { signal } = new AbortController();
const markdown: OutboundPart = { kind: 'text', text: '**Bold** for $5', format: 'markdown' };
const plain: OutboundPart = { kind: 'text', text: 'Plain.', format: null };

describe('sends of a Telegram bot', { timeout: 30_000 }, () => {
  let stub: TelegramStub;
  before(async () => {
    stub = await startTelegramStub();
  });
  after(() => stub.close());

  const open = (): { bot: StubBot; api: BotApi; sender: Sender; direct: SendTarget; group: SendTarget } => {
    const bot = stub.bot();
    const api = new BotApi(serverAt(stub.apiRoot), bot.token);
    const target = (where: 'direct' | 'group', thread?: number): SendTarget => {
      const written = bot.userWrites({ in: where, text: 'x', ...(thread !== undefined && { thread }) })!;
      return {
        conversationId: String(written.chatId),
        conversationKind: where,
        replyTo: { message: written.messageId },
        index: 0,
        count: 2,
        sentIds: [],
      };
    };
    return { bot, api, sender: new Sender(api, quickTimings), direct: target('direct'), group: target('group') };
  };

  test('Markdown goes as a rich message, anything else as plain text', async () => {
    const { bot, sender, direct } = open();
    await sender.send(direct, markdown, signal);
    await sender.send(direct, plain, signal);
    assert.deepEqual(
      bot.sent.map(({ method, text }) => [method, text]),
      [
        ['sendRichMessage', String.raw`**Bold** for \$5`],
        ['sendMessage', 'Plain.'],
      ],
    );
  });

  test('a rich message that is refused goes as plain text, as it was written', async () => {
    const { bot, sender, direct } = open();
    bot.failNext('sendRichMessage', { code: 400, description: 'Bad Request: RICH_MESSAGE_EMAIL_INVALID' });
    await sender.send(direct, markdown, signal);
    await sender.send(direct, markdown, signal);
    assert.deepEqual(
      bot.sent.map(({ method, text }) => [method, text]),
      [
        ['sendMessage', '**Bold** for $5'],
        ['sendRichMessage', String.raw`**Bold** for \$5`],
      ],
    );
  });

  test('a server without rich messages is asked for them once', async () => {
    const { bot, sender, direct } = open();
    bot.failNext('sendRichMessage', { code: 404, description: 'Not Found: method not found' });
    await sender.send(direct, markdown, signal);
    await sender.send(direct, markdown, signal);
    assert.equal(bot.calls.filter((method) => method === 'sendRichMessage').length, 1);
    assert.equal(bot.sent.length, 2);
  });

  test('a rich message of which nobody knows is not sent again as plain text', async () => {
    const { bot, sender, direct } = open();
    bot.cutNext('sendRichMessage');
    await assert.rejects(sender.send(direct, markdown, signal), { outcome: 'unknown' });
    bot.failNext('sendRichMessage', { code: 502, description: 'Bad Gateway' });
    await assert.rejects(sender.send(direct, markdown, signal), { outcome: 'unknown' });
    assert.equal(bot.sent.length, 1);
  });

  test('in groups the first part answers its message, even one that was deleted', async () => {
    const { bot, sender, direct, group } = open();
    await sender.send(group, plain, signal);
    await sender.send({ ...group, index: 1 }, plain, signal);
    await sender.send(direct, plain, signal);
    assert.deepEqual(
      bot.sent.map(({ repliesTo }) => repliesTo),
      [group.replyTo!['message'], null, null],
    );
    await sender.send({ ...group, replyTo: { message: 999_999 } }, plain, signal);
    assert.equal(bot.sent.length, 4);
  });

  test('a group that became a supergroup is followed', async () => {
    const { bot, sender, direct, group } = open();
    const parameters = { migrate_to_chat_id: Number(group.conversationId) };
    bot.failNext('sendRichMessage', { code: 400, description: 'Bad Request: group chat was upgraded', parameters });
    await sender.send({ ...group, conversationId: direct.conversationId }, markdown, signal);
    assert.equal(bot.sent[0]!.chatId, Number(group.conversationId));
  });

  test('refusals are told from what may be tried again', async () => {
    const { bot, sender, group } = open();
    const outcomes: [number, SendFailure['outcome']][] = [
      [400, 'refused'],
      [403, 'refused'],
      [413, 'refused'],
      [401, 'retry'],
      [429, 'retry'],
      [500, 'unknown'],
      [502, 'unknown'],
    ];
    for (const [code, outcome] of outcomes) {
      bot.failNext('sendMessage', { code, description: 'no', parameters: { retry_after: 4 } });
      await assert.rejects(sender.send(group, plain, signal), (error) => {
        assert.ok(error instanceof SendFailure);
        assert.equal(error.outcome, outcome, String(code));
        if (code === 429) assert.equal(error.retryAfterMs, 4_000);
        return true;
      });
    }
    assert.equal(bot.sent.length, 0);
  });

  test('a server that nobody listens on was surely not reached', async () => {
    const { direct } = open();
    const closed = await startTelegramStub();
    const { apiRoot } = closed;
    await closed.close();
    const api = new BotApi(serverAt(apiRoot), stub.bot().token);
    await assert.rejects(new Sender(api, quickTimings).send(direct, plain, signal), { outcome: 'retry' });
  });

  test('a picture goes as a picture, and keeps out of the form what stands in its name', async () => {
    const { bot, sender, direct } = open();
    const bytes = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(5_000)]);
    const open_ = async function* (): AsyncGenerator<Uint8Array> {
      yield bytes;
    };
    const name = 'a"; name="chat_id\r\n\r\n7;.png';
    await sender.send(direct, { kind: 'file', name, mediaType: 'image/png', bytes: bytes.length, open: open_ }, signal);
    const [sent] = bot.sent;
    assert.equal(sent!.method, 'sendPhoto');
    assert.deepEqual(Buffer.from(sent!.file!.bytes), bytes);
    assert.ok(!/["\r\n;]/.test(sent!.file!.name));
  });

  test('files beyond the limits are refused before a byte is read', async () => {
    const { bot, sender, direct } = open();
    const never = (): never => {
      throw new Error('it was read');
    };
    for (const bytes of [0, 51 * 1024 * 1024]) {
      const part: OutboundPart = { kind: 'file', name: 'x', mediaType: 'text/plain', bytes, open: never };
      await assert.rejects(sender.send(direct, part, signal), { outcome: 'refused' });
    }
    assert.equal(bot.requests, 0);
  });

  test('a file that says to be small and is large ends at its bound', async () => {
    const { bot, sender, direct } = open();
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) yield Buffer.alloc(1024 * 1024);
    };
    const part: OutboundPart = { kind: 'file', name: 'x', mediaType: 'text/plain', bytes: 10, open: endless };
    await assert.rejects(sender.send(direct, part, signal), SendFailure);
    assert.equal(bot.sent.length, 0);
  });

  test('a file larger than bots may fetch is an error, whatever its message said', async () => {
    const { bot, api } = open();
    const bytes = Buffer.alloc(21 * 1024 * 1024);
    bot.userWrites({ file: { name: 'x', mediaType: 'text/plain', bytes, claimedBytes: 5 } });
    const options = { timings: quickTimings, signal };
    await assert.rejects(openFile(api, `document-${bot.id}-1`, 30 * 1024 * 1024, options), { code: 400 });
  });

  test('a file whose reader leaves is not fetched to its end', async () => {
    const { bot, api } = open();
    bot.userWrites({ file: { name: 'x', mediaType: 'text/plain', bytes: Buffer.alloc(15 * 1024 * 1024) } });
    const bytes = await openFile(api, `document-${bot.id}-1`, 20 * 1024 * 1024, { timings: quickTimings, signal });
    for await (const chunk of bytes) {
      assert.ok(chunk.length > 0);
      break;
    }
  });
});
