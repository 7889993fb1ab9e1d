/** A person lets an agent use their mailbox: Google's OAuth 2.0 for web server applications, with PKCE. It keeps nothing. */

export interface GmailConsent {
  /** Everything that must be granted. */
  readonly scopes: readonly string[];
  /** Where the person's browser goes. Pure. */
  authorizationUrl(request: GmailConsentRequest): string;
  /**
   * What the code is worth. Rejects with a `ChannelFailure`: the code is used, too old or another's, a scope was not granted, or
   * Google cannot be reached.
   */
  exchange(answer: GmailConsentAnswer, signal: AbortSignal): Promise<GmailGrant>;
}

export interface GmailConsentRequest {
  /** As it is registered with the client; Google compares character by character. */
  readonly redirectUri: string;
  /** Comes back with the code: binds the answer to the session that asked. */
  readonly state: string;
  /** PKCE: base64url of the verifier's SHA-256. */
  readonly challenge: string;
  /** The mailbox that is meant; null: the person chooses. A hint: `GmailGrant.email` says which one it is. */
  readonly loginHint: string | null;
}

export interface GmailConsentAnswer {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

export interface GmailGrant {
  /** A secret: goes to the channel's credentials, sealed. */
  readonly refreshToken: string;
  /** The mailbox, lower-cased. It is the `accountKey` of the channel. */
  readonly email: string;
  readonly scopes: readonly string[];
}
