/**
 * A person's consent that an agent may use a mailbox or a connection. Its owner asks for it; a browser opens its page and agrees; the
 * same browser comes back from the provider.
 *
 *     begun ── agree (browser) ──> agreed ── take (state, browser) ──> gone
 *       └── refuse ──> gone           └── 10 minutes ──> gone
 */

export interface NewOAuthSession {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  /** The connection that it is for; null: it is for a mailbox. */
  readonly connection: string | null;
  /** SHA-256 of the state that goes through the browser. */
  readonly stateHash: Uint8Array;
  /** SHA-256 of the token in the address of its page. */
  readonly pageHash: Uint8Array;
  /** The PKCE verifier, with what else page and exchange need; see `oauthVerifierContext`. */
  readonly sealedVerifier: string;
  /** The redirect URI that was given: the exchange must name the same. */
  readonly redirectUri: string;
  /** Where the person goes on afterwards; null: nowhere. */
  readonly returnUrl: string | null;
}

export interface OAuthSession extends NewOAuthSession {
  readonly expiresAt: Date;
  /** SHA-256 of the secret of the browser that agreed; null: none has. */
  readonly browserHash: Uint8Array | null;
}

/** What is bound to a sealed PKCE verifier: in another place it does not open. The id alone tells a mailbox from a connection. */
export const oauthVerifierContext = (agentId: string, id: string): string =>
  `channel/${agentId}/gmail/oauth-session/${id}`;

export type OAuthSessionKind = 'mailbox' | 'connection';

export interface OAuthSessionStore {
  /** Ends `ttlMs` from now, by the database's clock. Sessions that have ended go, and the oldest of an agent beyond 10 of a kind. */
  begin(session: NewOAuthSession, ttlMs: number): Promise<{ readonly expiresAt: Date }>;
  /** Null: there is none with this page, or its time is over. */
  find(pageHash: Uint8Array): Promise<OAuthSession | null>;
  /** From now on it is this browser's; asked again by the same one it stays so. Null: as of `find`, or it is another browser's. */
  agree(pageHash: Uint8Array, browserHash: Uint8Array): Promise<OAuthSession | null>;
  /** Removes it where no browser has agreed, or this one has. */
  refuse(pageHash: Uint8Array, browserHash: Uint8Array): Promise<void>;
  /** Gives it once, and removes it. Null: no such state of this kind that this browser agreed to, or its time is over. */
  take(stateHash: Uint8Array, kind: OAuthSessionKind, browserHash: Uint8Array): Promise<OAuthSession | null>;
}
