/**
 * What an idle connection to Slack or Discord costs: so many of them in a process of their own, at the stubs of the test kit.
 *
 *   node benchmarks/channels-slack-discord.ts slack 300
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDiscord, createSlack } from '@lodge/channels';
import type { ChannelSecrets, ConnectionHost } from '@lodge/ports';
import { startDiscordStub } from '@lodge/testkit/discord';
import { startSlackStub } from '@lodge/testkit/slack';

const [name = 'slack', given = '300', apiUrl] = process.argv.slice(2);
const count = Number(given);

if (apiUrl === undefined) await measure();
else await connectAll(apiUrl);

async function measure(): Promise<void> {
  const { url, credentials } = name === 'slack' ? await slack() : await discord();
  const child = fork(import.meta.filename, [name, given, url], { execArgv: ['--expose-gc'] });
  child.send(credentials);
  const [line] = (await once(child, 'message')) as [string];
  console.log(line);
  child.kill();
  process.exit(0);
}

async function slack() {
  const stub = await startSlackStub();
  const credentials = Array.from({ length: count }, () => stub.addApp()).map(({ appToken, botToken }) => ({
    appToken,
    botToken,
  }));
  return { url: stub.apiUrl, credentials };
}

async function discord() {
  const stub = await startDiscordStub();
  return { url: stub.apiUrl, credentials: Array.from({ length: count }, () => ({ botToken: stub.addBot().token })) };
}

/** In the child: memory before, and after all are connected and a while has gone by. */
async function connectAll(url: string): Promise<void> {
  const [all] = (await once(process, 'message')) as [readonly ChannelSecrets[]];
  const platform = name === 'slack' ? createSlack({ apiUrl: url }) : createDiscord({ apiUrl: url });
  await connect(platform, all[0]!);
  const before = await settled();
  const begun = process.cpuUsage();
  for (const credentials of all.slice(1)) await connect(platform, credentials);
  const { user, system } = process.cpuUsage(begun);
  const after = await settled();
  const others = all.length - 1;
  const kib = (bytes: number): number => Math.round(bytes / 1024 / others);
  const rss = kib(after.rss - before.rss);
  const heap = kib(after.heapUsed - before.heapUsed);
  const cpuMs = ((user + system) / 1000 / others).toFixed(1);
  const first = Math.round(before.rss / 1024 / 1024);
  process.send!(
    `${name}: ${others} connections, each ${rss} KiB RSS, ${heap} KiB heap, ${cpuMs} ms CPU to connect; the process with one: ${first} MiB`,
  );
}

async function connect(platform: ReturnType<typeof createSlack>, credentials: ChannelSecrets): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const nothing = () => undefined;
  const host: ConnectionHost = {
    received: async () => undefined,
    at: async () => undefined,
    changed: ({ status }) => {
      if (status === 'connected') resolve();
    },
    keep: async () => undefined,
    vault: { get: async () => ({}), set: async () => undefined, clear: async () => undefined },
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  };
  platform.connect({ agentId: 'idle', credentials, wantsUnaddressed: false, cursor: null }, host);
  await promise;
}

async function settled(): Promise<NodeJS.MemoryUsage> {
  await sleep(6_000);
  globalThis.gc?.();
  globalThis.gc?.();
  await sleep(500);
  return process.memoryUsage();
}
