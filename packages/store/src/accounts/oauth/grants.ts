import { grantBounds } from '@lodge/domain';
import type { CodeRow, GrantRow, LockedGrant, NewApiKey, NewCode, RefreshHashes } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import type { Schema } from '../../database/schema.ts';
import { insertKey } from '../account-keys.ts';
import { noteUse } from './clients.ts';

type Db = Kysely<Schema>;

/** A code that comes again within this time ends what it gave. */
const codeKeptSeconds = 86_400;
const inSeconds = (count: number) => sql<Date>`clock_timestamp() + ${count} * interval '1 second'`;

export async function insertCode(trx: Db, code: NewCode): Promise<void> {
  await trx
    .insertInto('oauth_codes')
    .values({
      hash: code.hash,
      account_id: code.accountId,
      client_id: code.clientId,
      client_name: code.clientName,
      redirect_uri: code.redirectUri,
      challenge: code.challenge,
      scopes: code.scopes,
      resource: code.resource,
      expires_at: inSeconds(grantBounds.codeSeconds),
    })
    .execute();
  await noteUse(trx, code.clientId);
}

export async function accountOfCode(db: Db, hash: Uint8Array): Promise<string | null> {
  const row = await db.selectFrom('oauth_codes').select('account_id').where('hash', '=', hash).executeTakeFirst();
  return row?.account_id ?? null;
}

export async function lockCode(trx: Db, hash: Uint8Array): Promise<CodeRow | null> {
  const row = await trx
    .selectFrom('oauth_codes')
    .selectAll()
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('is_expired'))
    .where('hash', '=', hash)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    hash: row.hash,
    accountId: row.account_id,
    clientId: row.client_id,
    clientName: row.client_name,
    redirectUri: row.redirect_uri,
    challenge: row.challenge,
    scopes: row.scopes,
    resource: row.resource,
    isExpired: row.is_expired,
    grantId: row.key_id,
  };
}

/** Scopes of the access token are the grant's; its life is `grantBounds.accessSeconds`. */
export async function createGrant(
  trx: Db,
  code: CodeRow,
  redirectHost: string,
  { family, rotation }: RefreshHashes,
  key: NewApiKey,
): Promise<GrantRow> {
  const { id } = await insertKey(trx, code.accountId, key);
  await trx
    .updateTable('api_keys')
    .set({ expires_at: inSeconds(grantBounds.accessSeconds) })
    .where('id', '=', id)
    .execute();
  await trx
    .insertInto('oauth_grants')
    .values({
      key_id: id,
      account_id: code.accountId,
      client_id: code.clientId,
      client_name: code.clientName,
      redirect_host: redirectHost,
      scopes: code.scopes,
      resource: code.resource,
      family_hash: family,
      refresh_hash: rotation,
      expires_at: inSeconds(grantBounds.idleSeconds),
    })
    .execute();
  await trx.updateTable('oauth_codes').set({ key_id: id }).where('hash', '=', code.hash).execute();
  const made = await grantsWith(trx).where('g.key_id', '=', id).executeTakeFirstOrThrow();
  return toGrant(made);
}

export async function lockGrant(trx: Db, id: string): Promise<LockedGrant | null> {
  const row = await grantsWith(trx)
    .select(['g.refresh_hash', 'g.previous_hash'])
    .select(sql<boolean>`k.revoked_at is not null or g.expires_at <= clock_timestamp()`.as('is_over'))
    .select(
      sql<boolean>`g.rotated_at > clock_timestamp() - ${grantBounds.leewaySeconds} * interval '1 second'`.as(
        'is_fresh',
      ),
    )
    .where('g.key_id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    ...toGrant(row),
    isOver: row.is_over,
    rotation: row.refresh_hash,
    previousRotation: row.previous_hash,
    isFresh: row.is_fresh,
  };
}

export async function renewGrant(
  trx: Db,
  id: string,
  rotation: Uint8Array,
  { hash, last4, scopes }: NewApiKey,
  keepsPrevious: boolean,
): Promise<void> {
  await trx
    .updateTable('oauth_grants')
    .set({
      refresh_hash: rotation,
      expires_at: inSeconds(grantBounds.idleSeconds),
      ...(!keepsPrevious && { previous_hash: sql<Uint8Array>`refresh_hash`, rotated_at: sql<Date>`clock_timestamp()` }),
    })
    .where('key_id', '=', id)
    .execute();
  await trx
    .updateTable('api_keys')
    .set({ hash, last4, scopes, expires_at: inSeconds(grantBounds.accessSeconds) })
    .where('id', '=', id)
    .execute();
}

export async function grantOf(
  db: Db,
  token: { readonly family: Uint8Array } | { readonly access: Uint8Array },
): Promise<GrantRow | null> {
  const query = grantsWith(db);
  const row = await (
    'family' in token ? query.where('g.family_hash', '=', token.family) : query.where('k.hash', '=', token.access)
  ).executeTakeFirst();
  return row === undefined ? null : toGrant(row);
}

export async function grantsOf(db: Db, accountId: string): Promise<GrantRow[]> {
  const rows = await inForce(db, accountId).orderBy('g.created_at', 'desc').orderBy('g.key_id').limit(1_000).execute();
  return rows.map(toGrant);
}

export async function grantsBeyond(trx: Db, accountId: string, count: number): Promise<string[]> {
  const rows = await inForce(trx, accountId)
    .orderBy(sql`greatest(k.last_used_at, g.rotated_at)`, 'desc')
    .orderBy('g.key_id')
    .offset(count)
    .execute();
  return rows.map(({ key_id }) => key_id);
}

export async function pruneCodes(db: Db, limit: number): Promise<void> {
  await sql`
    delete from oauth_codes where hash in (
      select hash from oauth_codes where expires_at < now() - ${codeKeptSeconds} * interval '1 second'
      order by expires_at limit ${limit} for update skip locked
    )
  `.execute(db);
}

const columns = [
  'g.key_id',
  'g.account_id',
  'g.client_id',
  'g.client_name',
  'g.redirect_host',
  'g.scopes',
  'g.resource',
  'g.created_at',
  'g.expires_at',
  'k.last_used_at',
] as const;

const grantsWith = (db: Db) =>
  db.selectFrom('oauth_grants as g').innerJoin('api_keys as k', 'k.id', 'g.key_id').select(columns);

const inForce = (db: Db, accountId: string) =>
  grantsWith(db)
    .where('g.account_id', '=', accountId)
    .where('k.revoked_at', 'is', null)
    .where('g.expires_at', '>', sql<Date>`now()`);

type Row = Omit<Selectable<Schema['oauth_grants']>, 'family_hash' | 'refresh_hash' | 'previous_hash' | 'rotated_at'> & {
  readonly last_used_at: Date | null;
};

function toGrant(row: Row): GrantRow {
  return {
    id: row.key_id,
    accountId: row.account_id,
    clientId: row.client_id,
    clientName: row.client_name,
    redirectHost: row.redirect_host,
    scopes: row.scopes,
    resource: row.resource,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
