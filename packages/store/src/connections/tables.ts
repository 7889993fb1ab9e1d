import type { ConnectionAllow, ConnectionKind } from '@lodge/domain';
import type { ColumnType, Generated } from 'kysely';

/** Tables of connections. */
export interface ConnectionTables {
  connections: {
    agent_id: string;
    name: string;
    account_id: string;
    kind: ConnectionKind;
    url: string;
    /** Written as text. */
    allow: ColumnType<readonly ConnectionAllow[], string, string>;
    tools: ColumnType<readonly string[] | null, string | null, string | null>;
    enabled: boolean;
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
}
