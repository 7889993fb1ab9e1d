/** Grants of connections and their renewal. A new token is stored before it is used. */
import type { ConnectionOAuthStatus, OAuthEndpoints } from '@lodge/domain';

export interface ConnectionOAuth {
  /** The owner's client; with null one is registered with each consent. */
  readonly clientId: string | null;
  /** See `connectionClientSecretContext`. */
  readonly clientSecret: { readonly sealed: string; readonly last4: string } | null;
  /** The authorization server that first accepted the owner's client; null when none did. */
  readonly clientIssuer: string | null;
  /** The authorization server that the owner named; null where the connection's server names it. */
  readonly endpoints: OAuthEndpoints | null;
  /** The scope that the owner requests; with null the server names it. */
  readonly scope: string | null;
  readonly status: ConnectionOAuthStatus;
  /** A sentence of ours, or null. */
  readonly reason: string | null;
  /** Changes with each change of the grant. */
  readonly version: string;
  readonly grant: StoredGrant | null;
}

export interface StoredGrant {
  /** A `Grant` as JSON; see `connectionGrantContext`. */
  readonly sealed: string;
  readonly scope: string | null;
  /** As JSON has times. */
  readonly expiresAt: string | null;
  /** Whether it should be renewed, by the database's clock. `isOver` says that it has expired. */
  readonly isDue: boolean;
  readonly isOver: boolean;
  readonly ageMs: number;
}

/** The context bound to a sealed grant of a connection, or to its client's secret. Neither opens in another context. */
export const connectionGrantContext = (agentId: string, connection: string): string =>
  `connection/${agentId}/${connection}/oauth/grant`;
export const connectionClientSecretContext = (agentId: string, connection: string): string =>
  `connection/${agentId}/${connection}/oauth/client-secret`;

export interface NewGrant {
  readonly sealed: string;
  readonly scope: string | null;
  /** Null when the server did not say. */
  readonly expiresInMs: number | null;
  readonly renewInMs: number | null;
}

/** A connection as the caller read it. */
export interface ConnectionRef {
  readonly agentId: string;
  readonly connection: string;
  readonly revision: string;
}

/** A grant of a connection, as the caller read it. */
export interface GrantRef {
  readonly agentId: string;
  readonly connection: string;
  readonly version: string;
}

export interface ConnectionGrants {
  /**
   * Claims the renewal for `forMs`. `busy` means that somebody else has the claim, `later` that it failed a moment ago, and
   * `moved` that there is another grant or none by now.
   */
  claim(of: GrantRef, forMs: number): Promise<'yours' | 'busy' | 'later' | 'moved'>;
  /** Replaces the grant with the new one. False when there is another by now, or none. Repeating it changes nothing. */
  keep(of: GrantRef, grant: NewGrant): Promise<boolean>;
  /** Records a failed renewal and ends the claim. Nobody tries for `retryMs`. */
  fail(of: GrantRef, reason: string, retryMs: number): Promise<void>;
  /** Records that the grant is invalid and that a person must consent again. Writes `connection.consent_needed` once. */
  lose(of: GrantRef, reason: string): Promise<void>;
  /** Records that the server asked for OAuth. Does nothing when the connection was put again since, or has OAuth. */
  asked(of: ConnectionRef): Promise<void>;
}
