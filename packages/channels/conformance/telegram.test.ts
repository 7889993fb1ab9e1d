import { startTelegramStub } from '@lodge/testkit/telegram';
import type { StubBot } from '@lodge/testkit/telegram';
import { createTelegram } from '../src/telegram/telegram.ts';
import { quickTimings } from '../src/telegram/testing/timings.ts';
import { describePlatform } from './suite.ts';
import type { AccountUnderTest, Misbehaviour, PlatformUnderTest, UserMessage, Written } from './under-test.ts';

describePlatform(
  'Telegram',
  {
    acknowledges: true,
    groups: true,
    threads: true,
    bots: true,
    files: true,
    limitsSends: true,
    progress: true,
    buttons: true,
    deafWithinMs: 3_000,
    revokes: true,
  },
  async (): Promise<PlatformUnderTest> => {
    const stub = await startTelegramStub();
    return {
      platform: createTelegram({ apiRoot: stub.apiRoot, timings: quickTimings }),
      account: async () => accountOf(stub.bot()),
      stop: () => stub.close(),
    };
  },
);

function accountOf(bot: StubBot): AccountUnderTest {
  const [id = '', secret = ''] = bot.token.split(':');
  return {
    credentials: { botToken: bot.token },
    secrets: [bot.token, secret],
    wrong: [
      { botToken: `${id}:${'A'.repeat(35)}` },
      { botToken: `1${id}:${secret}` },
      { botToken: 'xoxb-1234-5678-abcdef' },
      { botToken: `${bot.token}/../x` },
      { botToken: '' },
      {},
    ],
    userWrites: async (message) => write(bot, message),
    sent: () => bot.sent.map(({ chatId, thread, text, file }) => ({ place: placeOf(chatId, thread), text, file })),
    shown: () => [...bot.shown.values()].map(({ text }) => text),
    rang: () => bot.sent.filter(({ isSilent }) => !isSilent).length,
    buttons: () =>
      [...bot.shown.values()]
        .filter(({ buttons }) => buttons.length > 0)
        .map(({ text, buttons }) => ({ text, labels: buttons.map((each) => each.text) })),
    userPresses: async ({ label, by, isLate }) => {
      const press = bot.userPresses({ label, ...(by && { from: { id: 5_000_000_777, name: 'Bob' } }) });
      if (isLate) bot.expire(press);
      return press;
    },
    told: (press) => bot.told.get(press) ?? null,
    typings: () => bot.actions.length,
    acknowledged: ({ id }) => bot.isConfirmed(Number(id)),
    calls: () => bot.requests,
    misbehave: async (how) => misbehave(bot, how),
  };
}

const placeOf = (chatId: number, thread: number | null): string =>
  thread === null ? `${chatId}` : `${chatId}/${thread}`;

function write(bot: StubBot, message: UserMessage): Written {
  const { repliesToAgent, thread, from, ...rest } = message;
  const written = bot.userWrites({
    ...rest,
    ...(repliesToAgent && { repliesToBot: true }),
    ...(thread !== undefined && { thread: Number(thread) }),
    ...(from && { from: { ...from, id: from.isBot ? 6_000_000_001 : 5_000_000_001 } }),
  })!;
  return { id: String(written.updateId), place: placeOf(written.chatId, written.thread) };
}

function misbehave(bot: StubBot, how: Misbehaviour): void {
  switch (how.do) {
    case 'unreachable':
      return bot.misbehave('unreachable');
    case 'mend':
      return bot.misbehave('mended');
    case 'deaf':
      return bot.misbehave('deaf_polls');
    case 'redeliver':
      return bot.redeliver();
    case 'revoke':
      return bot.revoke();
    case 'unclear_next_send':
      return bot.cutNext('sendMessage');
    case 'limit_next_send':
    case 'limit_next_edit': {
      const seconds = how.retryAfterMs / 1_000;
      return bot.failNext(how.do === 'limit_next_send' ? 'sendMessage' : 'editMessageText', {
        code: 429,
        description: `Too Many Requests: retry after ${seconds}`,
        parameters: { retry_after: seconds },
      });
    }
  }
}
