import type { AccountRow, Credentials } from '@lodge/ports';
import type { Selectable } from 'kysely';
import type { Schema } from '../database/schema.ts';

export const accountColumns = [
  'accounts.id',
  'accounts.name',
  'accounts.email',
  'accounts.role',
  'accounts.created_at',
  'accounts.password_hash',
  'accounts.totp_sealed',
  'accounts.totp_pending_sealed',
  'accounts.spend_limit',
  'accounts.record_llm_calls',
] as const;

type Row = Omit<Selectable<Schema['accounts']>, 'totp_last_step'>;

export function toAccountRow(row: Row): AccountRow {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    totpEnabled: row.totp_sealed !== null,
    spendLimit: row.spend_limit,
    recordsLlmCalls: row.record_llm_calls,
    createdAt: row.created_at,
  };
}

export function toCredentials(row: Row): Credentials {
  return {
    account: toAccountRow(row),
    passwordHash: row.password_hash,
    totpSealed: row.totp_sealed,
    totpPendingSealed: row.totp_pending_sealed,
  };
}
