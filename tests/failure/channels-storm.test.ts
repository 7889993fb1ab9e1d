/**
 * kill -9 of servers and relays in a storm of messages, answered by the engine itself. The guarantee: each message is answered
 * exactly once, or listed as `unknown` with the reason; none is lost; what is said in a conversation is answered in its order.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { helpText } from '@lodge/domain';
import { formOf } from '@lodge/testkit/forms';
import { ChannelsWorld } from './channels-world.ts';
import type { StormReport } from './storm/server.ts';
import { describeStorm } from './storm/storm.ts';
import { Workers } from './storm/workers.ts';

/** `kills` of servers, and as many of relays; `writingMs` is about as long as they take. */
const { agents, messages, kills, writingMs } = formOf({
  short: { agents: 6, messages: 300, kills: 2, writingMs: 6_000 },
  long: { agents: 50, messages: 10_000, kills: 20, writingMs: 120_000 },
});
const chatsOfAgent = 4;
/** After each word of that number its sender asks for help. */
const commandEvery = 20;
const commands = Math.ceil(messages / commandEvery);
/** Parts that a relay sends at once: a kill makes no more of them unknown. */
const maxUnderWay = 32;

let world: ChannelsWorld;
let workers: Workers;

describeStorm({
  name: `${messages} messages over ${agents} agents, ${kills} kills of servers and of relays`,
  kills: 2 * kills,
  pauseMs: formOf({ short: [1_000, 2_500], long: [3_000, 4_500] }),
  withinMs: formOf({ short: 8, long: 20 }) * 60_000,
  async open() {
    world = await ChannelsWorld.start(agents);
    workers = new Workers(world.serverJob({ turnMs: 300, putOffEvery: 20 }));
    const kill = (n: number): Promise<void> => (n % 2 === 0 ? killRelay() : workers.replace());
    return { begin, bring: write, kill, open: whatIsOpen, count, close };
  },
});

async function close(): Promise<void> {
  workers.close();
  await world.close();
}

async function begin(): Promise<void> {
  await workers.start();
  await until('agents run', async () => {
    const [row] = await world.query<{ n: number }>(`select count(*)::int as n from agents where status = 'running'`);
    return row!.n === agents;
  });
}

async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const end = Date.now() + 120_000;
  while (!(await look())) {
    assert.ok(Date.now() < end, `not within 2 min: ${what}`);
    await sleep(30);
  }
}

/** Process ids of the relays that the present server has started. */
const relays = (): readonly number[] => (workers.reportOf() as StormReport | null)?.relays ?? [];

async function killRelay(): Promise<void> {
  await until('a relay runs', () => relays().length > 0);
  const [pid] = relays();
  process.kill(pid!, 'SIGKILL');
  await until('it is gone', () => !relays().includes(pid!));
}

/** Words in turn to all chats of all agents, and commands among them; some are delivered twice, or before earlier ones. */
async function write(): Promise<void> {
  for (let n = 0; n < messages; n += 1) {
    const { bot } = world.talkers[n % agents]!;
    const chat = Math.floor(n / agents) % chatsOfAgent;
    const from = { id: 1_000 + chat, name: `User ${chat}` };
    bot.userWrites({ text: `w${n}`, from });
    if (n % commandEvery === 0) bot.userWrites({ text: '/help', from });
    if (randomInt(20) === 0) bot.redeliver();
    if (n % 10 === 9) await sleep(writingMs / (messages / 10));
  }
}

async function whatIsOpen(): Promise<string | null> {
  const [row] = await world.query<{ all: number; open: number }>(
    `select count(*)::int as all, (count(*) filter (where state = 'received'))::int as open from channel_messages`,
  );
  const { all, open } = row!;
  const expected = messages + commands;
  return all >= expected && open === 0 ? null : `${all} of ${expected} came in, ${open} wait`;
}

async function count(): Promise<readonly string[]> {
  const figures: string[] = [];
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
    figures.push(`${unknown.filter((each) => each.endsWith(reason)).length} ${reason}`);
  }
  figures.push(`${answered} answered, ${unknown.length} unknown`);
  const [again] = await world.query<{ n: number }>(
    `select count(*)::int as n from channel_messages where attempts > 1`,
  );
  const [parts] = await world.query<{ n: number }>(
    `select count(*)::int as n from channel_parts where state = 'unknown'`,
  );
  figures.push(`${parts!.n} parts are unknown; ${again!.n} messages were taken up more than once`);
  assert.ok(again!.n > 0, 'no kill and no refusal met a turn');
  assert.ok(parts!.n <= 2 * kills * maxUnderWay, `${parts!.n} parts are unknown`);
  return figures;
}
