import type { ConnectionAllow, ConnectionKind, ConnectionOAuthStatus } from '@lodge/domain';
import type { ColumnType, Generated } from 'kysely';

/** Tables of connections. */
export interface ConnectionTables {
  connections: {
    agent_id: string;
    name: string;
    account_id: string;
    kind: ConnectionKind;
    url: string;
    /** JSON that is written as text. */
    allow: ColumnType<readonly ConnectionAllow[], string, string>;
    tools: ColumnType<readonly string[] | null, string | null, string | null>;
    enabled: boolean;
    asks_oauth: Generated<boolean>;
    status_reason: string | null;
    echoed_at: Generated<readonly Date[]>;
    revision: Generated<string>;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  connection_headers: {
    agent_id: string;
    connection: string;
    name: string;
    sealed: string;
    last4: string;
    created_at: Generated<Date>;
  };
  connection_oauth: {
    agent_id: string;
    connection: string;
    client_id: string | null;
    client_secret_sealed: string | null;
    client_secret_last4: Generated<string>;
    client_issuer: string | null;
    scope: string | null;
    status: Generated<ConnectionOAuthStatus>;
    reason: string | null;
    version: Generated<string>;
    grant_sealed: string | null;
    granted_scope: string | null;
    granted_at: Date | null;
    expires_at: Date | null;
    renew_at: Date | null;
    claimed_until: Date | null;
    retry_at: Date | null;
  };
}
