import type { Platform } from '@lodge/ports';
import { usualBackoff } from '../shared/backoff.ts';
import { SlackConnection } from './connection.ts';
import type { SlackTimings } from './connection.ts';
import { progressLimits } from './progress.ts';
import { maxMarkdownChars, renderSlack } from './render.ts';
import { verifySlack } from './verify.ts';

export interface SlackOptions {
  /** Base URL of the Web API, with `/api/` at its end. From the operator's configuration alone. */
  readonly apiUrl?: string;
  readonly callTimeoutMs?: number;
  readonly timings?: Partial<SlackTimings>;
}

const usualTimings: SlackTimings = {
  backoff: usualBackoff,
  helloTimeoutMs: 15_000,
  pingEveryMs: 10_000,
  deadAfterMs: 30_000,
  glanceAfterMs: 75_000,
  compareAfterMs: 15 * 60_000,
  lateMs: 30_000,
  lookAgainMs: 2_000,
};

/** Slack by Socket Mode: nothing listens on our side. Each agent has a Slack app of its own. */
export function createSlack(options: SlackOptions = {}): Platform {
  const { apiUrl = 'https://slack.com/api/', callTimeoutMs = 15_000 } = options;
  const api = { apiUrl: apiUrl.endsWith('/') ? apiUrl : `${apiUrl}/`, callTimeoutMs };
  const timings = { ...usualTimings, ...options.timings };
  return {
    channel: 'slack',
    limits: {
      textChars: maxMarkdownChars,
      fileInBytes: 1024 ** 3,
      fileOutBytes: 1024 ** 3,
      // A status goes after two minutes.
      typingEveryMs: 60_000,
      progress: progressLimits,
    },
    sendsOnce: false,
    tellsAccount: true,
    verify: (credentials, signal) => verifySlack(api, credentials, signal),
    render: renderSlack,
    connect: (account, host) => new SlackConnection(api, timings, account, host),
  };
}
