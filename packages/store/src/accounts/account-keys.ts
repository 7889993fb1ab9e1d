import type { ApiKeyRecord, NewApiKey } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import type { Schema } from '../database/schema.ts';

type Db = Kysely<Schema>;

const columns = [
  'id',
  'account_id',
  'name',
  'last4',
  'scopes',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
] as const;

export async function keysOf(db: Db, accountId: string): Promise<ApiKeyRecord[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(columns)
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(1000)
    .execute();
  return rows.map(toRecord);
}

export async function liveKeys(trx: Db, accountId: string): Promise<number> {
  const { live } = await trx
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<string>().as('live'))
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<Date>`now()`)]))
    .executeTakeFirstOrThrow();
  return Number(live);
}

/** Inserts a key; the caller writes its event. */
export function insertKey(trx: Db, accountId: string, key: NewApiKey) {
  const { name, hash, last4, scopes, expiresAt } = key;
  return trx
    .insertInto('api_keys')
    .values({ account_id: accountId, name, hash, last4, scopes, expires_at: expiresAt })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

export async function createKey(trx: Db, accountId: string, key: NewApiKey): Promise<ApiKeyRecord> {
  return toRecord(await insertKey(trx, accountId, key));
}

export async function revokeKey(
  trx: Db,
  accountId: string,
  id: string,
): Promise<{ readonly revoked: ApiKeyRecord | null; readonly wasLive: boolean }> {
  const { numUpdatedRows } = await trx
    .updateTable('api_keys')
    .set({ revoked_at: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  const row = await trx
    .selectFrom('api_keys')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return { revoked: row ? toRecord(row) : null, wasLive: numUpdatedRows > 0n };
}

function toRecord(row: Omit<Selectable<Schema['api_keys']>, 'hash'>): ApiKeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    last4: row.last4,
    scopes: row.scopes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
