/** OAuth of connections: its words, and the checks of an authorization server's text. */

/**
 * The OAuth status of a connection.
 *
 * - `needed`: a person must consent before the connection's tools can be used.
 * - `connected`: there is access, and it is renewed.
 * - `failed`: access could not be renewed for now. The next call tries again.
 */
export const connectionOAuthStatuses = ['needed', 'connected', 'failed'] as const;
export type ConnectionOAuthStatus = (typeof connectionOAuthStatuses)[number];

export const oauthBounds = {
  clientIdChars: 512,
  clientSecretChars: 1_024,
  scopeChars: 1_000,
  tokenChars: 4_096,
  urlChars: 2_048,
} as const;

/** Words of RFC 6749 (section 3.3), one space between two. */
const scope = /^[\u0021\u0023-\u005b\u005d-\u007e]+(?: [\u0021\u0023-\u005b\u005d-\u007e]+)*$/;
export const scopePattern = scope.source;

export const isScope = (text: string): boolean => text.length <= oauthBounds.scopeChars && scope.test(text);

/** Whether a text fits unchanged into a header and into a form. */
export const isOpaque = (text: string, maxChars: number): boolean =>
  text.length <= maxChars && /^[\u0021-\u007e]+$/.test(text);

/**
 * Bounds on the assumed life of access. A shorter one would be renewed with each call, and a longer one is no usable time.
 */
const shortestMs = 10_000;
const longestMs = 366 * 24 * 3_600_000;

export const believedMs = (ms: number): number => Math.min(Math.max(ms, shortestMs), longestMs);

/**
 * Returns the time after which an access token is renewed, which is before its end. Null when its end is unknown, or nothing
 * renews it.
 */
export function renewalIn(tokens: {
  readonly expiresInMs: number | null;
  readonly refreshToken: string | null;
}): number | null {
  const { expiresInMs, refreshToken } = tokens;
  if (expiresInMs === null || refreshToken === null) return null;
  return expiresInMs - Math.min(60_000, expiresInMs / 5);
}
