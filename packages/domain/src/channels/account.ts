/** The account of credentials, as far as it is known without asking the platform. */
import type { ChannelName } from './channel.ts';

/**
 * Returns the account that a token itself names, or null. Telegram's tokens begin with the bot's id and a colon, Discord's
 * with the bot's id in base64 and a dot. Slack's tokens name none.
 */
export function accountOfToken(channel: ChannelName, credentials: Readonly<Record<string, string>>): string | null {
  const token = (credentials['botToken'] ?? '').slice(0, 300);
  if (channel === 'telegram') return idIn(token.split(':', 2));
  if (channel === 'discord') return idIn([decoded(token.replace(/^Bot /, '').split('.', 1)[0]!), '']);
  return null;
}

const idIn = ([id = '', rest]: readonly string[]): string | null =>
  rest !== undefined && /^\d{1,20}$/.test(id) ? id : null;

const decoded = (part: string): string => Buffer.from(part, 'base64url').toString('latin1');

const prefix = 'unverified/';

/**
 * Returns the key of credentials whose account the platform has not confirmed yet. Such a key keeps no other channel from an
 * account. `digest` is the digest of one of the secrets, in base64url; `named` is the account that a token itself names.
 */
export const unverifiedAccount = (digest: string, named: string | null = null): string =>
  `${prefix}${digest}${named === null ? '' : `/${named}`}`;
/** Returns the account that the token of an unverified key names, or null. */
export const namedBy = (accountKey: string): string | null =>
  isUnverifiedAccount(accountKey) ? (accountKey.split('/', 3)[2] ?? null) : null;
export const isUnverifiedAccount = (accountKey: string): boolean => accountKey.startsWith(prefix);
