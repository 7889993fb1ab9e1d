/**
 * Sends messages through a relay as a server starts it, with real Postgres, from a user's message at a stub of Telegram to
 * the answer there; and through a direct loop on the same stub. The two take turns.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StubBot } from '@lodge/testkit/telegram';
import { ChannelsWorld } from '../../tests/failure/channels-world.ts';
import type { DirectOrder } from './direct.ts';
import { useOf } from './process-use.ts';

export interface TalkOptions {
  readonly bots: number;
  readonly chatsOfBot: number;
  /** Messages sent one by one. */
  readonly quietMessages: number;
  /** Length of each round with all chats at once. */
  readonly busyMs: number;
  readonly rounds: number;
}

export interface Busy {
  readonly perSecond: number;
  /** CPU per message: of the process that speaks to the platform, and of those behind it (Postgres and the answerer). */
  readonly cpuMs: number;
  readonly behindCpuMs: number;
  readonly tookMs: readonly number[];
}

export interface TalkFigures {
  /** Milliseconds from the message to its answer. */
  readonly quiet: { readonly relay: readonly number[]; readonly direct: readonly number[] };
  readonly busy: { readonly relay: readonly Busy[]; readonly direct: readonly Busy[] };
  /** Rows that are `answered` at the end, and all rows. */
  readonly rows: { readonly answered: number; readonly all: number };
}

interface Side {
  readonly bots: readonly StubBot[];
  readonly pid: number;
  /** Process ids of Postgres and the answerer. */
  readonly behind: () => Promise<readonly number[]>;
  /** Resolves when all received messages have ended. */
  readonly settled: () => Promise<unknown>;
}

const quietGapMs = 100;
const warmUpMs = 3_000;

export async function talk(options: TalkOptions): Promise<TalkFigures> {
  const world = await ChannelsWorld.start(options.bots);
  const relays = await world.relaysOfServer();
  const children: ChildProcess[] = [];
  try {
    const answerer = forkHere('./answerer.ts', world.connectionString);
    children.push(answerer);
    await once(answerer, 'message');
    const direct = Array.from({ length: options.bots }, () => world.telegram.bot());
    const tokens = direct.map(({ token }) => token);
    const loop = forkHere('./direct.ts', { apiRoot: world.telegram.apiRoot, tokens } satisfies DirectOrder);
    children.push(loop);
    const bots = world.talkers.map(({ bot }) => bot);
    while (![...bots, ...direct].every((bot) => bot.isPolled)) await sleep(100);
    await sleep(1_000);
    const behind = async (): Promise<number[]> => [answerer.pid!, ...(await postgresOf(world))];
    const sides = {
      relay: { bots, pid: relays.pids[0]!, behind, settled: () => settled(world) },
      direct: { bots: direct, pid: loop.pid!, behind: async () => [], settled: () => sleep(500) },
    };
    const quiet = await oneByOne(sides, options.quietMessages);
    const busy = { relay: [] as Busy[], direct: [] as Busy[] };
    for (let round = 0; round < options.rounds; round += 1) {
      busy.relay.push(await allAtOnce(sides.relay, options));
      busy.direct.push(await allAtOnce(sides.direct, options));
    }
    return { quiet, busy, rows: await settled(world) };
  } finally {
    for (const child of children) child.kill();
    await relays.close();
    await world.close();
  }
}

function forkHere(script: string, order: DirectOrder | string): ChildProcess {
  const child = fork(new URL(script, import.meta.url), [], { execArgv: [] });
  child.send(order);
  return child;
}

async function oneByOne(
  sides: Readonly<Record<'relay' | 'direct', Side>>,
  count: number,
): Promise<TalkFigures['quiet']> {
  const took = { relay: [] as number[], direct: [] as number[] };
  const warmUp = 20;
  for (let n = -warmUp; n < count; n += 1) {
    for (const which of ['relay', 'direct'] as const) {
      const { bots } = sides[which];
      const ms = await answered(bots[(n + warmUp) % bots.length]!, `q${n}`);
      if (n >= 0) took[which].push(ms);
      await sleep(quietGapMs * (0.5 + Math.random()));
    }
  }
  return took;
}

async function answered(bot: StubBot, text: string): Promise<number> {
  const answer = Promise.withResolvers<void>();
  const begun = performance.now();
  bot.onSent = ({ isSilent }) => {
    if (!isSilent) answer.resolve();
  };
  bot.userWrites({ text });
  await answer.promise;
  bot.onSent = null;
  return performance.now() - begun;
}

/** Writes the next message of each chat once the last one is answered. */
async function allAtOnce(side: Side, { chatsOfBot, busyMs }: TalkOptions): Promise<Busy> {
  const tookMs: number[] = [];
  let phase: 'warming' | 'measured' | 'over' = 'warming';
  const write = (bot: StubBot, user: number, begunAt: Map<number, number>): void => {
    begunAt.set(user, performance.now());
    bot.userWrites({ text: `b${user}`, from: { id: user, name: `User ${user}` } });
  };
  for (const bot of side.bots) {
    const begunAt = new Map<number, number>();
    bot.onSent = ({ chatId, isSilent }) => {
      if (isSilent) return;
      if (phase === 'measured') tookMs.push(performance.now() - begunAt.get(chatId)!);
      if (phase !== 'over') write(bot, chatId, begunAt);
    };
    for (let chat = 0; chat < chatsOfBot; chat += 1) write(bot, 2_000 + chat, begunAt);
  }
  await sleep(warmUpMs);
  const behind = await side.behind();
  const before = [await useOf(side.pid), await cpuOf(behind)] as const;
  const begun = performance.now();
  phase = 'measured';
  await sleep(busyMs);
  phase = 'over';
  const ms = performance.now() - begun;
  const after = [await useOf(side.pid), await cpuOf(behind)] as const;
  await side.settled();
  for (const bot of side.bots) bot.onSent = null;
  const count = tookMs.length;
  return {
    perSecond: count / (ms / 1000),
    cpuMs: (after[0].cpuMs - before[0].cpuMs) / count,
    behindCpuMs: (after[1] - before[1]) / count,
    tookMs,
  };
}

/** Sums CPU time. Connections of a pool come and go, and those that went count nothing. */
async function cpuOf(pids: readonly number[]): Promise<number> {
  const all = await Promise.all(pids.map((pid) => useOf(pid).catch(() => ({ cpuMs: 0 }))));
  return all.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

async function postgresOf(world: ChannelsWorld): Promise<readonly number[]> {
  const rows = await world.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  return rows.map(({ pid }) => pid);
}

async function settled(world: ChannelsWorld): Promise<TalkFigures['rows']> {
  for (let tries = 0; ; tries += 1) {
    const [rows] = await world.query<{ answered: number; open: number; all: number }>(
      `select count(*)::int as all, (count(*) filter (where state = 'answered'))::int as answered,
         (count(*) filter (where state = 'received'))::int as open from channel_messages`,
    );
    if (rows!.open === 0) return { answered: rows!.answered, all: rows!.all };
    if (tries > 100) throw new Error(`${rows!.open} messages wait for ever`);
    await sleep(300);
  }
}
