import type { Scope } from '@lodge/domain';
import type { Generated } from 'kysely';

/** Tables of OAuth clients that ask for access to an account. */
export interface OAuthTables {
  oauth_devices: DevicesTable;
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
