import type { InvitedRole, Role, SpendLimit } from '@lodge/domain';
import type { LinkKind } from '@lodge/ports';
import type { ColumnType, Generated } from 'kysely';

/** Tables of accounts and their belongings. */
export interface AccountTables {
  recovery_codes: { account_id: string; hash: Uint8Array };
  sessions: SessionsTable;
  known_addresses: { account_id: string; address: string; last_at: Generated<Date> };
  account_links: AccountLinksTable;
  attempts: AttemptsTable;
  data_keys: { id: string; wrapped: string; master_key_id: string; created_at: Generated<Date> };
}

export interface AccountColumns {
  email: Generated<string | null>;
  password_hash: Generated<string | null>;
  role: Role;
  totp_sealed: Generated<string | null>;
  totp_pending_sealed: Generated<string | null>;
  spend_limit: ColumnType<SpendLimit | null, undefined, string | null>;
  record_llm_calls: Generated<boolean>;
  /** A bigint, which pg returns as text. */
  totp_last_step: ColumnType<string | null, number | undefined, number | null>;
}

interface SessionsTable {
  id: Generated<string>;
  account_id: string;
  hash: Uint8Array;
  created_at: Generated<Date>;
  last_seen_at: Generated<Date>;
  expires_at: Date;
  address: string;
  user_agent: string | null;
}

export interface AccountLinksTable {
  id: Generated<string>;
  kind: LinkKind;
  account_id: string;
  email: string | null;
  role: Generated<InvitedRole>;
  removes_totp: Generated<boolean>;
  hash: Uint8Array;
  created_at: Generated<Date>;
  expires_at: Date;
  used_at: Generated<Date | null>;
}

interface AttemptsTable {
  subject: string;
  failures: number;
  last_at: Date;
  blocked_until: Date | null;
}
