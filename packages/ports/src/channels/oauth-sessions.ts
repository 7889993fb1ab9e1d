/** A person's consent that an agent may use a mailbox or a connection: begun by the owner, finished by who comes back. */

export interface NewOAuthSession {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  /** The connection that it is for; null: it is for a mailbox. */
  readonly connection: string | null;
  /** SHA-256 of the state that goes through the browser. */
  readonly stateHash: Uint8Array;
  /** The PKCE verifier, with what else the exchange needs; see `oauthVerifierContext`. */
  readonly sealedVerifier: string;
  /** The redirect URI that was given: the exchange must name the same. */
  readonly redirectUri: string;
  /** Where the person goes on afterwards; null: nowhere. */
  readonly returnUrl: string | null;
}

export interface OAuthSession extends NewOAuthSession {
  readonly expiresAt: Date;
}

/** What is bound to a sealed PKCE verifier: in another place it does not open. The id alone tells a mailbox from a connection. */
export const oauthVerifierContext = (agentId: string, id: string): string =>
  `channel/${agentId}/gmail/oauth-session/${id}`;

export type OAuthSessionKind = 'mailbox' | 'connection';

export interface OAuthSessionStore {
  /** Ends `ttlMs` from now, by the database's clock. Sessions that have ended go, and the oldest of an agent beyond 10 of a kind. */
  begin(session: NewOAuthSession, ttlMs: number): Promise<{ readonly expiresAt: Date }>;
  /** Gives it once, and removes it. Null: no such state of this kind, or its time is over. */
  take(stateHash: Uint8Array, kind: OAuthSessionKind): Promise<OAuthSession | null>;
}
