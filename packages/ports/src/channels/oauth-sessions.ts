/**
 * A person's consent that an agent may use a mailbox or a connection. The agent's owner asks for it. A browser opens its
 * page and agrees, and the same browser comes back from the provider.
 *
 *     begun ── agree (browser) ──> agreed ── take (state, browser) ──> gone
 *       └── refuse ──> gone           └── 10 minutes ──> gone
 */

export interface NewOAuthSession {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  /** The connection that it is for; null for a mailbox. */
  readonly connection: string | null;
  /** SHA-256 of the state that goes through the browser. */
  readonly stateHash: Uint8Array;
  /** SHA-256 of the token in the address of its page. */
  readonly pageHash: Uint8Array;
  /** The PKCE verifier, with the other values that page and exchange need; see `oauthVerifierContext`. */
  readonly sealedVerifier: string;
  /** The redirect URI of the request, which the exchange must repeat. */
  readonly redirectUri: string;
  /** The address to which the person returns afterwards; null for none. */
  readonly returnUrl: string | null;
}

export interface OAuthSession extends NewOAuthSession {
  readonly expiresAt: Date;
  /** SHA-256 of the secret of the browser that agreed; null when none has. */
  readonly browserHash: Uint8Array | null;
}

/**
 * The context that is bound to a sealed PKCE verifier. It does not open in another context. The id alone tells a mailbox
 * from a connection.
 */
export const oauthVerifierContext = (agentId: string, id: string): string =>
  `channel/${agentId}/gmail/oauth-session/${id}`;

export type OAuthSessionKind = 'mailbox' | 'connection';

export interface OAuthSessionStore {
  /**
   * Begins a session that ends after `ttlMs` by the database's clock. Removes ended sessions, and the oldest of an agent
   * beyond 10 of a kind.
   */
  begin(session: NewOAuthSession, ttlMs: number): Promise<{ readonly expiresAt: Date }>;
  /** Returns null when there is none with this page, or its time is over. */
  find(pageHash: Uint8Array): Promise<OAuthSession | null>;
  /**
   * Binds the session to this browser; repeating it changes nothing. Returns null as `find` does, or when it is another
   * browser's.
   */
  agree(pageHash: Uint8Array, browserHash: Uint8Array): Promise<OAuthSession | null>;
  /** Removes the session when no browser has agreed, or this one has. */
  refuse(pageHash: Uint8Array, browserHash: Uint8Array): Promise<void>;
  /**
   * Returns the session once and removes it. Returns null when there is no such state of this kind that this browser agreed
   * to, or its time is over.
   */
  take(stateHash: Uint8Array, kind: OAuthSessionKind, browserHash: Uint8Array): Promise<OAuthSession | null>;
}
