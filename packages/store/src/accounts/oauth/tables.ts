import type { Scope } from '@lodge/domain';
import type { Generated } from 'kysely';

/** Tables of OAuth clients that ask for access to an account. */
export interface OAuthTables {
  oauth_devices: DevicesTable;
  oauth_clients: ClientsTable;
  oauth_codes: CodesTable;
  oauth_grants: GrantsTable;
}

interface DevicesTable {
  id: Generated<string>;
  device_hash: Uint8Array;
  user_code: string;
  client_name: string;
  scopes: readonly Scope[];
  address: string;
  network: string;
  created_at: Generated<Date>;
  expires_at: Date;
  interval_seconds: number;
  polled_at: Generated<Date | null>;
  account_id: Generated<string | null>;
  granted: Generated<readonly Scope[] | null>;
}

interface ClientsTable {
  id: string;
  name: string;
  redirect_uris: readonly string[];
  network: string;
  created_at: Generated<Date>;
  used_at: Generated<Date | null>;
}

interface CodesTable {
  hash: Uint8Array;
  account_id: string;
  client_id: string;
  client_name: string;
  redirect_uri: string;
  challenge: string;
  scopes: readonly Scope[];
  resource: string | null;
  expires_at: Date;
  key_id: Generated<string | null>;
}

interface GrantsTable {
  key_id: string;
  account_id: string;
  client_id: string;
  client_name: string;
  redirect_host: string;
  scopes: readonly Scope[];
  resource: string | null;
  family_hash: Uint8Array;
  refresh_hash: Uint8Array;
  previous_hash: Generated<Uint8Array | null>;
  rotated_at: Generated<Date>;
  created_at: Generated<Date>;
  expires_at: Date;
}
