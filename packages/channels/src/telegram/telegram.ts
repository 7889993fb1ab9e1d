import { ChannelFailure } from '@lodge/ports';
import type { ChannelSecrets, Platform, Verified } from '@lodge/ports';
import { BotApi, isToken, serverAt, TelegramError } from './api.ts';
import type { TelegramServer } from './api.ts';
import { TelegramConnection } from './connection.ts';
import { maxTextChars, renderAnswer } from './dialect.ts';
import { maxFileInBytes } from './files.ts';
import { botOf } from './identity.ts';
import { progressLimits } from './progress.ts';
import * as reasons from './reasons.ts';
import { maxFileOutBytes } from './send.ts';
import { usualTimings } from './timings.ts';
import type { TelegramTimings } from './timings.ts';

export interface TelegramOptions {
  /** Base URL of the Bot API, only from the operator's configuration. Default: Telegram's own. */
  readonly apiRoot?: string;
  readonly timings?: TelegramTimings;
}

/** A sign of typing is shown for five seconds. Source: core.telegram.org/bots/api#sendchataction. */
const typingEveryMs = 4_000;

export function createTelegram(options: TelegramOptions = {}): Platform {
  const { apiRoot = 'https://api.telegram.org', timings = usualTimings } = options;
  const root = apiRoot.endsWith('/') ? apiRoot.slice(0, -1) : apiRoot;
  const server = serverAt(root);
  return {
    channel: 'telegram',
    limits: {
      textChars: maxTextChars,
      fileInBytes: maxFileInBytes,
      fileOutBytes: maxFileOutBytes,
      typingEveryMs,
      progress: progressLimits,
    },
    sendsOnce: false,
    tellsAccount: true,
    verify: (credentials, signal) => verify(server, timings, credentials, signal),
    render: renderAnswer,
    connect: (account, host) => new TelegramConnection(server, timings, account, host),
  };
}

async function verify(
  server: TelegramServer,
  timings: TelegramTimings,
  credentials: ChannelSecrets,
  signal: AbortSignal,
): Promise<Verified> {
  const token = credentials['botToken'] ?? '';
  if (!isToken(token)) throw new ChannelFailure(reasons.wrongKind);
  const bot = new BotApi(server, token);
  try {
    const me = await bot.call(timings.callMs, signal, (api, ending) => api.getMe(ending));
    const info = await bot.call(timings.callMs, signal, (api, ending) => api.getWebhookInfo(ending));
    if (typeof info.url === 'string' && info.url !== '') throw new ChannelFailure(reasons.webhookSet(info.url));
    const { id, name } = botOf(me, token);
    return { identity: { id: String(id), name }, accountKey: String(id) };
  } catch (error) {
    if (!(error instanceof TelegramError)) throw error;
    throw new ChannelFailure(reasons.isOfToken(error) ? reasons.invalid : reasons.passing(error));
  }
}
