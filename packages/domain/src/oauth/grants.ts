/** Words and bounds of access that a person gives to another program (OAuth 2.1). */
import { scopes } from '../scopes.ts';
import type { Scope } from '../scopes.ts';

/** Scopes that such a program can get. It never manages keys. */
export const grantableScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'keys:write');

export const grantBounds = {
  /** Life of a code, which a program exchanges at once. */
  codeSeconds: 120,
  accessSeconds: 3_600,
  /** A grant that is not renewed for this long ends. */
  idleSeconds: 90 * 86_400,
  /** A refresh token that was exchanged is taken once more within this time: the reply to the first may have been lost. */
  leewaySeconds: 60,
  /** Grants of one account; beyond these, the one that was used longest ago ends. */
  maxGrants: 50,
  /** Registered clients of one network in a day, and in all. */
  maxClientsOfNetwork: 50,
  maxClients: 10_000,
  maxRedirectUris: 10,
  maxStateChars: 2_048,
} as const;

/** RFC 7636: a verifier, and a challenge by S256. */
export const isCodeVerifier = (text: string): boolean => /^[\w.~-]{43,128}$/.test(text);
export const isCodeChallenge = (text: string): boolean => /^[\w-]{43}$/.test(text);

export const maxClientNameChars = 100;

/**
 * Returns a stranger's name on one line of visible characters: no line ends, nothing invisible and nothing that turns text
 * around. Null when nothing is left.
 */
export function shownName(text: string): string | null {
  const visible = text
    .slice(0, 4 * maxClientNameChars)
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const name = Array.from(visible).slice(0, maxClientNameChars).join('').trim();
  return name === '' ? null : name;
}
