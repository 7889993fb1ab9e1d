/**
 * Asks a person to let a connection use its server: the authorization code grant with PKCE, as the Model Context Protocol
 * defines it (2025-11-25, "Authorization"), or at an authorization server that the owner named. It stores nothing. The server may be hostile, so every address that it names was
 * chosen by somebody else.
 */
import type { OAuthEndpoints } from '@lodge/domain';

/** Values are in the clear and never logged. */
export interface ConsentClient {
  readonly id: string;
  readonly secret: string | null;
}

export interface ConsentWish {
  /** The connection's URL. */
  readonly url: string;
  /** The owner's client; with null one is registered (RFC 7591). */
  readonly client: ConsentClient | null;
  /** The authorization server that the owner named; with null the connection's server is asked for its own. */
  readonly endpoints: OAuthEndpoints | null;
  /** The only authorization server that may be asked; with null the server names one. */
  readonly issuer: string | null;
  /** The scope to request; with null the server names it. */
  readonly scope: string | null;
  readonly redirectUri: string;
  /** Comes back with the code. */
  readonly state: string;
}

/** The facts that the exchange and each renewal need. They may hold a client's secret, so they are stored sealed. */
export interface ConsentTerms {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly authMethods: readonly string[];
  /** The resource that the tokens are for (RFC 8707); null where the owner named the authorization server. */
  readonly resource: string | null;
  /** The registered client; null when the client is the owner's. */
  readonly registered: (ConsentClient & { readonly method: string | null }) | null;
}

export interface BegunConsent {
  /** The address to which the person's browser goes. */
  readonly authorizationUrl: string;
  /** The PKCE verifier, a secret. */
  readonly verifier: string;
  readonly scope: string | null;
  readonly terms: ConsentTerms;
  /** Whether the answer names the issuer (RFC 9207). */
  readonly issuerIsSaid: boolean;
}

export interface ConsentAnswer {
  readonly terms: ConsentTerms;
  readonly client: ConsentClient | null;
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** Secrets, which are stored sealed. */
export interface GrantedTokens {
  readonly accessToken: string;
  /** Null when access ends with the token. */
  readonly refreshToken: string | null;
  /** Null when the server did not say. */
  readonly expiresInMs: number | null;
  /** Null when it is the requested scope. */
  readonly scope: string | null;
}

/** The stored form of a consent, sealed as JSON. */
export interface Grant extends Pick<GrantedTokens, 'accessToken' | 'refreshToken'> {
  readonly terms: ConsentTerms;
  /** The only address to which the tokens go. */
  readonly url: string;
  /** The previous access token, which may still be valid and is masked too. */
  readonly before: string | null;
}

/**
 * `message` is a sentence of ours for the owner. `isRefusal` says that the authorization server refused and will refuse
 * again.
 */
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
