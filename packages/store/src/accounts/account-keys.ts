import type { ApiKeyRecord, NewApiKey, RevokedKey } from '@lodge/ports';
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
  'made_by',
] as const;

/** Whether a key is one by itself, and not the access token of a grant. */
const isMadeAsKey = sql<boolean>`not exists (select from oauth_grants g where g.key_id = api_keys.id)`;

export async function keysOf(db: Db, accountId: string): Promise<ApiKeyRecord[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(columns)
    .where('account_id', '=', accountId)
    .where(isMadeAsKey)
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
    .where(isMadeAsKey)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<Date>`now()`)]))
    .executeTakeFirstOrThrow();
  return Number(live);
}

/** Inserts a key; the caller writes its event. */
export function insertKey(trx: Db, accountId: string, key: NewApiKey) {
  const { name, hash, last4, scopes, expiresAt, madeBy = null } = key;
  return trx
    .insertInto('api_keys')
    .values({ account_id: accountId, name, hash, last4, scopes, expires_at: expiresAt, made_by: madeBy })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

export async function createKey(trx: Db, accountId: string, key: NewApiKey): Promise<ApiKeyRecord> {
  return toRecord(await insertKey(trx, accountId, key));
}

export async function keyOf(db: Db, accountId: string, id: string): Promise<ApiKeyRecord | null> {
  const row = await db
    .selectFrom('api_keys')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? toRecord(row) : null;
}

/** The caller has locked the account: no key of it is made meanwhile. */
export async function revokeKey(trx: Db, accountId: string, id: string): Promise<RevokedKey> {
  const { rows } = await sql<{ id: string }>`
    with recursive ended as (
      select id from api_keys where account_id = ${accountId} and id = ${id}
      union
      select k.id from api_keys k join ended on k.made_by = ended.id
    )
    update api_keys k set revoked_at = now() from ended
    where k.id = ended.id and k.revoked_at is null
    returning k.id
  `.execute(trx);
  const ids = rows.map((row) => row.id);
  return {
    revoked: await keyOf(trx, accountId, id),
    wasLive: ids.includes(id),
    made: ids.filter((each) => each !== id).toSorted(),
  };
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
    madeBy: row.made_by,
  };
}
