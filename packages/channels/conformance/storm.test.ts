/** Many troubles at once, at random: whatever was written arrives, and is kept once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDiscord } from '../src/discord/discord.ts';
import { createSlack } from '../src/slack/slack.ts';
import type { ChannelConnection, Platform } from '@lodge/ports';
import { startDiscordStub } from '@lodge/testkit/discord';
import { formOf } from '@lodge/testkit/forms';
import { startSlackStub } from '@lodge/testkit/slack';
import { Kept, TestHost } from './host.ts';

const messages = formOf({ short: 120, long: 3_000 });
const backoff = { firstMs: 5, maxMs: 50, stableMs: 1_000 };

interface Stormy {
  readonly platform: Platform;
  readonly credentials: Readonly<Record<string, string>>;
  readonly write: (text: string) => void;
  readonly troubles: readonly (() => void)[];
}

describe('in a storm nothing is lost and nothing is kept twice', { timeout: 120_000 }, () => {
  test('at Slack', async (t) => {
    const stub = await startSlackStub({ retriesMs: [100, 200, 400, 800] });
    t.after(() => stub.close());
    const app = stub.addApp();
    const events = stub.events(app);
    const timings = {
      backoff,
      helloTimeoutMs: 1_000,
      pingEveryMs: 500,
      deadAfterMs: 2_000,
      compareAfterMs: 400,
      lateMs: 100,
    };
    await weather(t, {
      platform: createSlack({ apiUrl: stub.apiUrl, callTimeoutMs: 1_000, timings }),
      credentials: { appToken: app.appToken, botToken: app.botToken },
      write: (text) => stub.write(app, { channel: `D${text.length % 3}`, text }),
      troubles: [
        () => events.cut(),
        () => events.disconnect('refresh_requested'),
        () => events.tellAgain(),
        () => events.deafen(),
        () => stub.fail({ method: 'apps.connections.open', status: 503 }),
        () => stub.fail({ method: 'conversations.history', status: 429, retryAfterSeconds: 0 }),
        () => stub.fail({ method: 'users.info', isCut: true }),
        () => events.say('{"type":'),
      ],
    });
  });

  test('at Discord', async (t) => {
    const stub = await startDiscordStub();
    t.after(() => stub.close());
    const bot = stub.addBot();
    const gateway = stub.gatewayOf(bot);
    gateway.heartbeatMs = 500;
    const timings = {
      backoff,
      helloTimeoutMs: 1_000,
      readyTimeoutMs: 1_000,
      loginWaitMs: 2,
      settleMs: 10,
      compareAfterMs: 400,
      lateMs: 100,
    };
    const rooms = [1, 2, 3].map(
      (each) => ({ id: `50000000000000000${each}`, type: 0, name: 'room', guild_id: bot.guildId }) as const,
    );
    await weather(t, {
      platform: createDiscord({ apiUrl: stub.apiUrl, callTimeoutMs: 1_000, timings }),
      credentials: { botToken: bot.token },
      write: (text) => stub.write(bot, { channel: rooms[text.length % 3]!, text, mention: true }),
      troubles: [
        () => gateway.cut(),
        () => gateway.say({ op: 7, d: null }),
        () => gateway.say({ op: 9, d: false }),
        () => gateway.tellAgain(),
        () => gateway.deafen(),
        () => gateway.close(4000),
        () => stub.fail({ on: 'GET /gateway', status: 503 }),
        () => stub.fail({ on: 'GET /channels', status: 500 }),
      ],
    });
  });
});

async function weather(t: TestContext, { platform, credentials, write, troubles }: Stormy): Promise<void> {
  const kept = new Kept(credentials);
  let host = new TestHost(kept);
  const connect = (): ChannelConnection => {
    host = new TestHost(kept);
    return platform.connect({ agentId: 'storm', credentials, wantsUnaddressed: true, cursor: kept.cursor }, host);
  };
  let connection = connect();
  t.after(() => connection.close());
  await host.reaches('connected');
  const random = randomFrom(11);
  for (let each = 0; each < messages; each += 1) {
    write('x'.repeat(random(3)) + String(each));
    const trouble = random(troubles.length * 3);
    if (trouble < troubles.length) troubles[trouble]!();
    host.behaviour = random(5) === 0 ? 'reject' : 'commit';
    await sleep(random(12));
    // Another relay goes on from what was kept.
    if (random(30) === 0) {
      await connection.close();
      connection = connect();
    }
  }
  host.behaviour = 'commit';
  const written = new Set(Array.from({ length: messages }, (_, each) => String(each)));
  const missing = (): string[] =>
    [...written].filter((each) => !kept.messages.some(({ text }) => text.replaceAll('x', '') === each));
  await host
    .until(() => missing().length === 0, `messages`, 40_000)
    .catch((error: unknown) => {
      assert.fail(`${missing().join(', ')} are lost; ${String(error)}`);
    });
  assert.equal(kept.messages.length, messages);
}

function randomFrom(seed: number): (below: number) => number {
  let at = seed;
  return (below) => {
    at = (at * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((at / 2_147_483_648) * below);
  };
}
