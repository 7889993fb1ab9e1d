/**
 * A person lets a connection use its server: the authorization code grant with PKCE, as the Model Context Protocol has it
 * (2025-11-25, "Authorization"). It keeps nothing. The server may be hostile: whatever it names is an address that somebody
 * else chose.
 */

/** In the clear: never logged. */
export interface ConsentClient {
  readonly id: string;
  readonly secret: string | null;
}

export interface ConsentWish {
  /** The connection's. */
  readonly url: string;
  /** The owner's; null: one is registered (RFC 7591). */
  readonly client: ConsentClient | null;
  /** The one authorization server that may be asked; null: whichever the server names. */
  readonly issuer: string | null;
  /** Null: what the server names. */
  readonly scope: string | null;
  readonly redirectUri: string;
  /** Comes back with the code. */
  readonly state: string;
}

/** What the exchange and each renewal need. It may hold a client's secret: kept sealed. */
export interface ConsentTerms {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly authMethods: readonly string[];
  /** Whom the tokens are for (RFC 8707). */
  readonly resource: string;
  /** Null: the client is the owner's. */
  readonly registered: (ConsentClient & { readonly method: string | null }) | null;
}

export interface BegunConsent {
  /** Where the person's browser goes. */
  readonly authorizationUrl: string;
  /** PKCE: a secret. */
  readonly verifier: string;
  readonly scope: string | null;
  readonly terms: ConsentTerms;
  /** Whoever comes back brings the issuer along (RFC 9207). */
  readonly issuerIsSaid: boolean;
}

export interface ConsentAnswer {
  readonly terms: ConsentTerms;
  readonly client: ConsentClient | null;
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** Secrets: kept sealed. */
export interface GrantedTokens {
  readonly accessToken: string;
  /** Null: access ends with the token. */
  readonly refreshToken: string | null;
  /** Null: nobody said. */
  readonly expiresInMs: number | null;
  /** Null: what was asked for. */
  readonly scope: string | null;
}

/** What is kept of a consent, sealed as JSON. */
export interface Grant extends Pick<GrantedTokens, 'accessToken' | 'refreshToken'> {
  readonly terms: ConsentTerms;
  /** Where the tokens go, and nowhere else. */
  readonly url: string;
  /** The access token before this one, which may be good still: it is masked too. */
  readonly before: string | null;
}

/** `message` is a sentence of ours for the owner. `isRefusal`: the authorization server said no, and will say no again. */
export class ConsentFailure extends Error {
  readonly isRefusal: boolean;
  constructor(message: string, isRefusal = false) {
    super(message);
    this.name = 'ConsentFailure';
    this.isRefusal = isRefusal;
  }
}

export interface ConnectionConsent {
  /** Rejects with a `ConsentFailure`. */
  begin(wish: ConsentWish, signal: AbortSignal): Promise<BegunConsent>;
  /** Rejects with a `ConsentFailure`. */
  exchange(answer: ConsentAnswer, signal: AbortSignal): Promise<GrantedTokens>;
}
