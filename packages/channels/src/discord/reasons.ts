import { ChannelFailure, SendFailure } from '@lodge/ports';
import type { ChannelReason } from '@lodge/domain';
import { DiscordError } from './rest.ts';

export const badToken: ChannelReason = {
  code: 'invalid_credentials',
  message: 'Discord does not know the bot token. Reset it on the Bot page of the application, and give the new one.',
};

/** Close codes of the gateway that only a person can mend; docs.discord.com/developers/topics/opcodes-and-status-codes. */
export function fatalClose(code: number): ChannelReason | null {
  switch (code) {
    case 4004:
      return badToken;
    case 4014:
      return {
        code: 'missing_permission',
        message:
          'Discord does not let the bot read every message. Switch on the Message Content Intent on the Bot page, or answer mentions alone.',
      };
    case 4011:
      return { code: 'platform_refused', message: 'The bot is in more servers than one connection may serve.' };
    case 4010:
    case 4012:
    case 4013:
      return {
        code: 'platform_refused',
        message: `Discord refuses the connection (${code}). A newer version of Lodge may help.`,
      };
    default:
      return null;
  }
}

export function failureOf(error: unknown): ChannelFailure {
  if (error instanceof ChannelFailure) return error;
  if (error instanceof DiscordError && error.status === 401) return new ChannelFailure(badToken);
  return new ChannelFailure(passingReason(error));
}

export function passingReason(error: unknown): ChannelReason {
  if (error instanceof DiscordError && error.kind === 'limited') {
    return { code: 'rate_limited', message: 'Discord asks to wait. It is tried again by itself.' };
  }
  const status = error instanceof DiscordError && error.status > 0 ? ` (${error.status})` : '';
  return { code: 'platform_unreachable', message: `Discord cannot be reached${status}. It is tried again by itself.` };
}

/** How long a part waits when the token itself is refused: a person has to act. */
const untilMendedMs = 60_000;

export function sendFailureOf(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  if (error instanceof ChannelFailure) return new SendFailure('retry', error.message, { retryAfterMs: untilMendedMs });
  if (!(error instanceof DiscordError)) return new SendFailure('unknown', 'Discord gave no answer.');
  switch (error.kind) {
    case 'limited':
      return new SendFailure('retry', 'Discord asks to wait.', { retryAfterMs: error.retryAfterMs });
    case 'unreached':
      return new SendFailure('retry', 'Discord cannot be reached.');
    case 'unclear':
      return new SendFailure('unknown', 'Discord gave no clear answer.');
    case 'refused':
      if (error.status === 401) return new SendFailure('retry', badToken.message, { retryAfterMs: untilMendedMs });
      return new SendFailure(
        'refused',
        refusedSentences[error.code] ?? `Discord refused the message (${error.status}, ${error.code}).`,
      );
  }
}

const refusedSentences: Readonly<Record<number, string>> = {
  10_003: 'The Discord channel is gone.',
  40_005: 'The file is larger than Discord takes.',
  50_001: 'The bot can no longer see the Discord channel.',
  50_007: 'The person takes no direct messages from the bot.',
  50_013: 'The bot may not write in the Discord channel, or not attach files. Give its role these permissions.',
};
