/**
 * Asks a person to let an agent use their mailbox: Google's OAuth 2.0 for web server applications, with PKCE. It stores
 * nothing.
 */

export interface GmailConsent {
  /** The scopes that must all be granted. */
  readonly scopes: readonly string[];
  /** Returns the address to which the person's browser goes. A pure function. */
  authorizationUrl(request: GmailConsentRequest): string;
  /**
   * Exchanges the code for a grant. Rejects with a `ChannelFailure` when the code is used, too old or another's, when a
   * scope was not granted, or when Google cannot be reached.
   */
  exchange(answer: GmailConsentAnswer, signal: AbortSignal): Promise<GmailGrant>;
}

export interface GmailConsentRequest {
  /** The URI registered with the client; Google compares it character by character. */
  readonly redirectUri: string;
  /** Comes back with the code and binds the answer to the session that asked. */
  readonly state: string;
  /** PKCE: base64url of the verifier's SHA-256. */
  readonly challenge: string;
  /** The mailbox to offer; with null the person chooses. It is only a hint, and `GmailGrant.email` names the chosen one. */
  readonly loginHint: string | null;
}

export interface GmailConsentAnswer {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

export interface GmailGrant {
  /** A secret that goes, sealed, into the channel's credentials. */
  readonly refreshToken: string;
  /** The mailbox, lower-cased. It is the `accountKey` of the channel. */
  readonly email: string;
  readonly scopes: readonly string[];
}
