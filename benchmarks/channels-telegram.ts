/**
 * What idle bots of Telegram cost one process: BOTS of them (default 1,000), each with a long poll open at a stub beside it.
 *
 *     node benchmarks/channels-telegram.ts
 *
 * Prints RSS before and after, per bot, and the share of a core over a minute. Over plain HTTP: TLS adds some 60 KiB each.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTelegram } from '@lodge/channels';
import type { ConnectionHost } from '@lodge/ports';
import { startTelegramStub } from '@lodge/testkit/telegram';
import { table } from './figures.ts';

const bots = Number(process.env['BOTS'] ?? 1_000);
const mib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);

if (process.send) await holdBots();
else await measure();

async function measure(): Promise<void> {
  const stub = await startTelegramStub();
  const tokens = Array.from({ length: bots }, () => stub.bot());
  const child = fork(import.meta.filename, { execArgv: ['--expose-gc', '--max-semi-space-size=4'] });
  child.send({ apiRoot: stub.apiRoot, tokens: tokens.map(({ token }) => token) });
  const [figures] = (await once(child, 'message')) as [readonly string[]];
  const polled = tokens.filter((bot) => bot.isPolled).length;
  console.log(
    table(
      ['bots', 'polled', 'RSS before MiB', 'RSS MiB', 'KiB each', 'CPU %'],
      [[String(bots), String(polled), ...figures]],
    ),
  );
  child.kill();
  await stub.close();
}

async function holdBots(): Promise<void> {
  const [given] = (await once(process, 'message')) as [{ apiRoot: string; tokens: readonly string[] }];
  const platform = createTelegram({ apiRoot: given.apiRoot });
  global.gc?.();
  const before = process.memoryUsage.rss();
  let connected = 0;
  for (const botToken of given.tokens) {
    const account = { agentId: botToken, credentials: { botToken }, wantsUnaddressed: false, cursor: null };
    platform.connect(
      account,
      quietHost(() => (connected += 1)),
    );
  }
  while (connected < given.tokens.length) await sleep(100);
  // Past the first probes and the end of the first polls.
  await sleep(70_000);
  const cpu = process.cpuUsage();
  await sleep(60_000);
  const { user, system } = process.cpuUsage(cpu);
  global.gc?.();
  const after = process.memoryUsage.rss();
  const each = (after - before) / 1024 / given.tokens.length;
  process.send!([mib(before), mib(after), each.toFixed(0), ((user + system) / 600_000).toFixed(1)]);
}

function quietHost(onConnected: () => void): ConnectionHost {
  return {
    received: async () => undefined,
    at: async () => undefined,
    keep: async () => undefined,
    changed: ({ status }) => {
      if (status === 'connected') onConnected();
    },
    vault: { get: async () => ({}), set: async () => undefined, clear: async () => undefined },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  };
}
