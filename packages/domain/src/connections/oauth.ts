/** OAuth of connections: its words, the checks of an owner's addresses, and those of an authorization server's text. */
import { destinationFault } from '../destination.ts';

/**
 * The OAuth status of a connection.
 *
 * - `needed`: a person must consent before the connection can be used.
 * - `connected`: there is access, and it is renewed.
 * - `failed`: access could not be renewed for now. The next call tries again.
 */
export const connectionOAuthStatuses = ['needed', 'connected', 'failed'] as const;
export type ConnectionOAuthStatus = (typeof connectionOAuthStatuses)[number];

/** Ways in which the owner's client shows its secret at the token endpoint (RFC 6749, section 2.3.1). */
export const clientAuthMethods = ['client_secret_basic', 'client_secret_post'] as const;
export type ClientAuthMethod = (typeof clientAuthMethods)[number];

/** An authorization server as the owner of a connection names it. A server of tools names its own. */
export interface OAuthEndpoints {
  /** The address to which the person's browser goes. Its query may have what the server wants beside OAuth's own. */
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  /** Null: `client_secret_basic`. */
  readonly clientAuth: ClientAuthMethod | null;
}

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

/** Parameters of an authorization request that Lodge sets, or that would change where and how the answer comes. */
const ownParameters = new Set([
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'request',
  'request_uri',
]);

/** Says what is wrong with an address of an authorization server, as `destinationFault` does. */
export function endpointFault(text: string, insecure: boolean): string | null {
  if (text.length > oauthBounds.urlChars) return `must have at most ${oauthBounds.urlChars} characters`;
  const fault = destinationFault(text, insecure);
  if (fault !== null) return fault;
  return text.includes('#') ? 'must not have a fragment' : null;
}

export function authorizationFault(text: string, insecure: boolean): string | null {
  const fault = endpointFault(text, insecure);
  if (fault !== null) return fault;
  const own = [...new URL(text).searchParams.keys()].find((name) => ownParameters.has(name));
  return own === undefined ? null : `must not have ${own} in its query, which Lodge sets`;
}

/**
 * Whether an answer's issuer (RFC 9207) may be that of an authorization server of which only its address is known. Issuers
 * are URLs at the server's own origin.
 */
export const isIssuerOf = (issuer: string, authorizationUrl: string): boolean =>
  URL.parse(issuer)?.origin === new URL(authorizationUrl).origin;

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
