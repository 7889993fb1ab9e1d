/** Why a bot is not connected, as a sentence for its owner. */
import type { ChannelReason } from '@lodge/domain';
import { plainName } from '../shared/plain.ts';
import type { TelegramError } from './api.ts';

export const wrongKind: ChannelReason = {
  code: 'wrong_kind_of_credential',
  message:
    'This is no bot token of Telegram. A token is a number, a colon and some 35 characters; @BotFather shows it under API Token.',
};

export const invalid: ChannelReason = {
  code: 'invalid_credentials',
  message: 'Telegram does not know this bot token. Copy it again from @BotFather, or have @BotFather make a new one.',
};

export const revoked: ChannelReason = {
  code: 'revoked',
  message:
    'Telegram no longer accepts the bot token. Have @BotFather show the current one, and put it into the channel.',
};

export const unreachable: ChannelReason = {
  code: 'platform_unreachable',
  message: 'Telegram cannot be reached. The connection is tried again by itself.',
};

export const secondPoller: ChannelReason = {
  code: 'used_elsewhere',
  message:
    'Another program receives the messages of this bot. End that program, or have @BotFather revoke the token and put the new one here.',
};

/** The reason names only the webhook's host: the rest of such an address is often a secret. */
export function webhookSet(address: string): ChannelReason {
  const host = plainName(hostOf(address), 'another server', 100);
  return {
    code: 'used_elsewhere',
    message: `The messages of this bot go to a webhook at ${host}. Remove the webhook there (deleteWebhook), or make another bot for this agent.`,
  };
}

export const deaf: ChannelReason = {
  code: 'deaf',
  message: 'Telegram has messages for this bot and does not deliver them. The connection is made anew until they come.',
};

/** Messages that a bot in privacy mode does not get, although its owner wants them. */
export const privacyMode =
  'Privacy mode is on: in groups the bot sees commands, mentions and answers to it alone. @BotFather turns it off (/setprivacy); then add the bot to the group anew, or make it an administrator there.';

/** For what is no verdict on the token. */
export function passing(error: TelegramError): ChannelReason {
  if (error.code === 429) {
    return {
      code: 'rate_limited',
      message: 'Telegram asks for fewer requests. The connection is made again when its time is over.',
    };
  }
  if (error.code === null || error.code >= 500) return unreachable;
  return {
    code: 'platform_refused',
    message: `Telegram refuses to deliver (${error.code}). The connection is tried again by itself.`,
  };
}

/** 401 and 404 are the answers to a token that is not, or no longer, known. */
export const isOfToken = ({ code }: TelegramError): boolean => code === 401 || code === 404;

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : '';
}
