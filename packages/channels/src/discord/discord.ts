import type { Platform } from '@lodge/ports';
import { usualBackoff } from '../shared/backoff.ts';
import { DiscordConnection } from './connection.ts';
import type { DiscordTimings } from './connection.ts';
import { InvalidRequests } from './invalid.ts';
import { maxContentChars, renderDiscord } from './render.ts';
import { progressLimits } from './progress.ts';
import { maxFileBytes } from './send.ts';
import { verifyDiscord } from './verify.ts';

export interface DiscordOptions {
  /** Base URL of the REST API, without its version. From the operator's configuration alone. */
  readonly apiUrl?: string;
  readonly callTimeoutMs?: number;
  readonly timings?: Partial<DiscordTimings>;
}

const usualTimings: DiscordTimings = {
  backoff: usualBackoff,
  helloTimeoutMs: 20_000,
  readyTimeoutMs: 20_000,
  loginWaitMs: 1_000,
  settleMs: 1_500,
  glanceAfterMs: 75_000,
  compareAfterMs: 15 * 60_000,
  lateMs: 30_000,
  keepPlaceEveryMs: 5 * 60_000,
};

const fileHosts = ['cdn.discordapp.com', 'media.discordapp.net'];

/** Discord by its gateway: nothing listens on our side. Each agent has a bot of its own. */
export function createDiscord(options: DiscordOptions = {}): Platform {
  const { apiUrl = 'https://discord.com/api', callTimeoutMs = 15_000 } = options;
  const api = { apiUrl, callTimeoutMs, fileHosts, invalid: new InvalidRequests() };
  const timings = { ...usualTimings, ...options.timings };
  return {
    channel: 'discord',
    limits: {
      textChars: maxContentChars,
      // The bound for people with a subscription.
      fileInBytes: 500 * 1024 * 1024,
      fileOutBytes: maxFileBytes,
      // The sign goes after ten seconds.
      typingEveryMs: 8_000,
      progress: progressLimits,
    },
    sendsOnce: true,
    // Discord knows a nonce for "a few minutes". Source: discord.com/developers/docs/resources/message#create-message.
    sendsOnceForMs: 120_000,
    tellsAccount: true,
    verify: (credentials, signal) => verifyDiscord(api, credentials, signal),
    render: renderDiscord,
    connect: (account, host) => new DiscordConnection(api, timings, account, host),
  };
}
