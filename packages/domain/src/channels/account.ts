/** Whose credentials are, as far as that is known without their platform. */
import type { ChannelName } from './channel.ts';

/**
 * The account that a token names itself; null where it names none. Telegram's begin with the bot's id and a colon, Discord's with
 * the bot's id in base64 and a dot; Slack's are of one piece.
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
 * Until the platform has said whose credentials are, they are nobody's: such a key keeps no other channel from an account. `digest` is
 * of a secret among them, in base64url; `named` is the account that a token names itself.
 */
export const unverifiedAccount = (digest: string, named: string | null = null): string =>
  `${prefix}${digest}${named === null ? '' : `/${named}`}`;
/** What the token of an unverified key says of itself; null: nothing. */
export const namedBy = (accountKey: string): string | null =>
  isUnverifiedAccount(accountKey) ? (accountKey.split('/', 3)[2] ?? null) : null;
export const isUnverifiedAccount = (accountKey: string): boolean => accountKey.startsWith(prefix);
