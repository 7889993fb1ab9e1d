/** What was granted to connections, and who renews it. A token that came is stored before it is used. */
import type { ConnectionOAuthStatus } from '@lodge/domain';

export interface ConnectionOAuth {
  /** Null: a client is registered with each consent. */
  readonly clientId: string | null;
  /** See `connectionClientSecretContext`. */
  readonly clientSecret: { readonly sealed: string; readonly last4: string } | null;
  /** The authorization server that took the owner's client first; null: none did. */
  readonly clientIssuer: string | null;
  /** What its owner asks for; null: what the server names. */
  readonly scope: string | null;
  readonly status: ConnectionOAuthStatus;
  /** A sentence of ours; null where there is nothing to say. */
  readonly reason: string | null;
  /** Another with each change of the grant. */
  readonly version: string;
  readonly grant: StoredGrant | null;
}

export interface StoredGrant {
  /** A `Grant` as JSON; see `connectionGrantContext`. */
  readonly sealed: string;
  readonly scope: string | null;
  readonly expiresAt: Date | null;
  /** By the database's clock: it should be renewed, or is over. */
  readonly isDue: boolean;
  readonly isOver: boolean;
  readonly ageMs: number;
}

/** What is bound to a sealed grant of a connection, or to the secret of its client: in another place it does not open. */
export const connectionGrantContext = (agentId: string, connection: string): string =>
  `connection/${agentId}/${connection}/oauth/grant`;
export const connectionClientSecretContext = (agentId: string, connection: string): string =>
  `connection/${agentId}/${connection}/oauth/client-secret`;

export interface NewGrant {
  readonly sealed: string;
  readonly scope: string | null;
  /** Null: nobody said. */
  readonly expiresInMs: number | null;
  readonly renewInMs: number | null;
}

/** A grant of a connection as somebody saw it. */
export interface GrantRef {
  readonly agentId: string;
  readonly connection: string;
  readonly version: string;
}

export interface ConnectionGrants {
  /**
   * Behind a consent. False: the connection is gone, or leads elsewhere or has another client than the consent was for.
   * Writes `connection.connected`.
   */
  connect(
    to: {
      readonly agentId: string;
      readonly connection: string;
      readonly url: string;
      readonly clientId: string | null;
      readonly issuer: string;
    },
    grant: NewGrant,
  ): Promise<boolean>;
  /**
   * Who renews it, for so long. `busy`: somebody else does. `later`: it failed a moment ago. `moved`: there is another grant
   * by now, or none.
   */
  claim(of: GrantRef, forMs: number): Promise<'yours' | 'busy' | 'later' | 'moved'>;
  /** Puts the new one in its place. False: there is another by now, or none. Repeated, it changes nothing. */
  keep(of: GrantRef, grant: NewGrant): Promise<boolean>;
  /** It could not be renewed; nobody tries for `retryMs`. The claim ends. */
  fail(of: GrantRef, reason: string, retryMs: number): Promise<void>;
  /** It is good no more: somebody must consent again. Writes `connection.consent_needed`, once. */
  lose(of: GrantRef, reason: string): Promise<void>;
  /** The server asked for OAuth. Nothing where the connection was put again since, or has it. */
  asked(of: { readonly agentId: string; readonly connection: string; readonly revision: string }): Promise<void>;
}
