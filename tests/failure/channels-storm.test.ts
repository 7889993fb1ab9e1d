/**
 * kill -9 of servers and relays in a storm of messages, answered by the engine itself. The guarantee: each message is answered
 * exactly once, or listed as `unknown` with the reason; none is lost; what is said in a conversation is answered in its order.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomInt } from 'node:crypto';
import { helpText } from '@lodge/domain';
import { formOf } from '@lodge/testkit/forms';
import { ChannelsWorld } from './channels-world.ts';

const agents = formOf({ short: 6, long: 50 });
const messages = formOf({ short: 300, long: 10_000 });
/** Of servers, and as many of relays. */
const kills = formOf({ short: 2, long: 20 });
/** About as long as the kills take. */
const writingMs = formOf({ short: 6_000, long: 120_000 });
const turns = { turnMs: 300, putOffEvery: 20 };
const withinMs = formOf({ short: 8, long: 20 }) * 60_000;
const chatsOfAgent = 4;
/** After each word of that number its sender asks for help. */
const commandEvery = 20;
const commands = Math.ceil(messages / commandEvery);
/** Parts that a relay sends at once: a kill makes no more of them unknown. */
const maxUnderWay = 32;

let world: ChannelsWorld;

before(async () => {
  world = await ChannelsWorld.start(agents);
  world.startServer(turns);
  await until('agents run', async () => {
    const [row] = await world.query<{ n: number }>(`select count(*)::int as n from agents where status = 'running'`);
    return row!.n === agents;
  });
});
after(() => world?.close());

async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 120_000;
  while (!(await look())) {
    assert.ok(Date.now() < end, `not within 2 min: ${what}`);
    await sleep(30);
  }
}

/** Of one that the present server has started, whenever it has. */
async function killRelay(): Promise<void> {
  await until('a relay runs', () => world.relaysOfThatServer.length > 0);
  const [pid] = world.relaysOfThatServer;
  process.kill(pid!, 'SIGKILL');
  await until('it is gone', () => !world.relaysOfThatServer.includes(pid!));
}

/** `count` words in turn to all chats of all agents, and commands among them; some are delivered twice, or before earlier ones. */
async function write(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const { bot } = world.talkers[n % agents]!;
    const chat = Math.floor(n / agents) % chatsOfAgent;
    const from = { id: 1_000 + chat, name: `User ${chat}` };
    bot.userWrites({ text: `w${n}`, from });
    if (n % commandEvery === 0) bot.userWrites({ text: '/help', from });
    if (randomInt(20) === 0) bot.redeliver();
    if (n % 10 === 9) await sleep(writingMs / (count / 10));
  }
}

const pause = () => sleep(formOf({ short: 1_000, long: 3_000 }) + randomInt(1_500));

async function untilQuiet(): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    const [row] = await world.query<{ all: number; open: number }>(
      `select count(*)::int as all, (count(*) filter (where state = 'received'))::int as open from channel_messages`,
    );
    if (row!.all >= messages + commands && row!.open === 0) return;
    assert.ok(Date.now() < end, `${row!.all} of ${messages + commands} came in, ${row!.open} wait`);
    await sleep(500);
  }
}

test(
  `${messages} messages over ${agents} agents, ${kills} kills of servers and of relays`,
  { timeout: withinMs + 60_000 },
  async (t) => {
    const startedAt = performance.now();
    const writing = write(messages);
    for (let n = 0; n < kills; n += 1) {
      await pause();
      await killRelay();
      await pause();
      await world.killServer();
    }
    await writing;
    await untilQuiet();

    const unknown: string[] = [];
    let answered = 0;
    let helped = 0;
    for (const { agentId, bot } of world.talkers) {
      const all = await world.messagesOf(agentId);
      const kept = all.filter(({ text }) => text !== '/help');
      const words = kept.map(({ text }) => text);
      assert.equal(new Set(words).size, words.length, 'a message was taken up twice');
      const helps = all.filter(({ text }) => text === '/help');
      const helpsTold = bot.sent.filter(({ text }) => text === helpText).length;
      const helpsAnswered = helps.filter(({ state }) => state === 'answered').length;
      assert.ok(helps.every(({ state, reason }) => state === 'answered' || (state === 'unknown' && reason)));
      assert.ok(helpsTold >= helpsAnswered && helpsTold <= helps.length, 'a command was answered twice, or not');
      helped += helps.length;
      const said = bot.sent
        .filter(({ text }) => text !== helpText)
        .map(({ chatId, text }) => ({ chatId, words: text.split(' ') }));
      for (const { text, state, reason } of kept) {
        const times = said.filter((answer) => answer.words.includes(text)).length;
        if (state === 'answered') answered += 1;
        else unknown.push(`${text} ${state}: ${reason}`);
        assert.ok(state === 'answered' || (state === 'unknown' && reason), `${text} is ${state}`);
        assert.ok(
          state === 'answered' ? times === 1 : times <= 1,
          `${text} was answered ${times} times, and is ${state}`,
        );
      }
      // A message that the platform delivers early is early: the order is that of the receipt.
      const receipt = new Map(kept.map(({ text }, index) => [text, index]));
      for (const chatId of new Set(said.map((answer) => answer.chatId))) {
        const order = said
          .filter((answer) => answer.chatId === chatId)
          .flatMap((answer) => answer.words.map((word) => receipt.get(word)!));
        assert.deepEqual(
          order,
          order.toSorted((x, y) => x - y),
          'answers are out of order',
        );
      }
    }
    assert.equal(answered + unknown.length, messages);
    assert.equal(helped, commands);
    for (const reason of new Set(unknown.map((each) => each.slice(each.indexOf(' ') + 1)))) {
      t.diagnostic(`${unknown.filter((each) => each.endsWith(reason)).length} ${reason}`);
    }
    t.diagnostic(
      `${answered} answered, ${unknown.length} unknown, in ${Math.round((performance.now() - startedAt) / 1_000)} s`,
    );
    const [again] = await world.query<{ n: number }>(
      `select count(*)::int as n from channel_messages where attempts > 1`,
    );
    const [parts] = await world.query<{ n: number }>(
      `select count(*)::int as n from channel_parts where state = 'unknown'`,
    );
    t.diagnostic(`${parts!.n} parts are unknown; ${again!.n} messages were taken up more than once`);
    assert.ok(again!.n > 0, 'no kill and no refusal met a turn');
    assert.ok(parts!.n <= 2 * kills * maxUnderWay, `${parts!.n} parts are unknown`);
  },
);
