/** The account of credentials, as far as it is known without asking the platform. */
import { platformOf } from './channel.ts';
import type { ChannelName } from './channel.ts';

/** Returns the account that a token itself names, or null. */
export const accountOfToken = (channel: ChannelName, credentials: Readonly<Record<string, string>>): string | null =>
  platformOf(channel).accountOf?.((credentials['botToken'] ?? '').slice(0, 300)) ?? null;

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
