/** Words and bounds of people's accounts. */

/** Links that open an account (`owner`, `reset`), or invite somebody to one of their own. */
export type LinkKind = 'owner' | 'invite' | 'reset';

/** Seconds for which each kind of link can be used. */
export const linkLifetimes: Readonly<Record<LinkKind, number>> = { owner: 86_400, invite: 7 * 86_400, reset: 3_600 };

/** Path of a link's page. The token is in the fragment, which browsers send to no server. */
export function linkPath(kind: LinkKind, token: string): string {
  const page = { owner: 'setup', invite: 'join', reset: 'reset' }[kind];
  return `/account/${page}#token=${token}`;
}

/** The longest life of a session, and the longest time without use. */
export const sessionLifetime = { absoluteSeconds: 30 * 86_400, idleSeconds: 7 * 86_400 } as const;

/** The earlier of two ends: that of every session, and that of a session without use. */
export function sessionEnd({ expiresAt, lastSeenAt }: { readonly expiresAt: Date; readonly lastSeenAt: Date }): Date {
  return new Date(Math.min(expiresAt.getTime(), lastSeenAt.getTime() + sessionLifetime.idleSeconds * 1000));
}

/** Kinds of the secrets that owners give and never read again. A fingerprint is of one kind. */
export const secretKinds = ['llm_key', 'channel', 'connection', 'hook'] as const;
export type SecretKind = (typeof secretKinds)[number];

/** The end of a secret, by which a person recognises it. A short one (a local server's password, say) shows nothing. */
export const lastFour = (secret: string): string => (secret.length >= 12 ? secret.slice(-4) : '');
