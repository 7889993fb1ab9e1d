/** One bot of the stub, connected, for the tests of this folder. */
import type { TestContext } from 'node:test';
import type { Json } from '@lodge/domain';
import type { Platform } from '@lodge/ports';
import type { DiscordBot, DiscordChannel, DiscordStub } from '@lodge/testkit/discord';
import { Kept, TestHost } from '../../../conformance/host.ts';
import { createDiscord } from '../discord.ts';

const timings = {
  backoff: { firstMs: 20, maxMs: 100, stableMs: 1_000 },
  helloTimeoutMs: 500,
  readyTimeoutMs: 500,
  loginWaitMs: 5,
  settleMs: 30,
  compareAfterMs: 60_000,
  lateMs: 100,
  keepPlaceEveryMs: 60_000,
};
export const dm: DiscordChannel = { id: '500000000000000001', type: 1 };

export const platformAt = (stub: DiscordStub, more: object = {}): Platform =>
  createDiscord({ apiUrl: stub.apiUrl, callTimeoutMs: 1_000, timings: { ...timings, ...more } });

export const roomOf = (bot: DiscordBot, more: Partial<DiscordChannel> = {}): DiscordChannel => ({
  id: '500000000000000002',
  type: 0,
  name: 'general',
  guild_id: bot.guildId,
  ...more,
});

interface Beginning {
  readonly bot?: DiscordBot;
  readonly wantsUnaddressed?: boolean;
  readonly cursor?: Json | null;
  readonly timings?: object;
}

export async function begunAt(stub: DiscordStub, t: TestContext, more: Beginning = {}) {
  const { bot = stub.addBot(), wantsUnaddressed = false, cursor = null } = more;
  const gateway = stub.gatewayOf(bot);
  const kept = new Kept({ botToken: bot.token });
  const host = new TestHost(kept);
  const account = { agentId: 'one', credentials: kept.credentials, wantsUnaddressed, cursor };
  const connection = platformAt(stub, more.timings).connect(account, host);
  t.after(() => connection.close());
  return { bot, gateway, host, connection, kept };
}

export async function connectedAt(stub: DiscordStub, t: TestContext, more: Beginning = {}) {
  const world = await begunAt(stub, t, more);
  await world.host.reaches('connected');
  return world;
}
