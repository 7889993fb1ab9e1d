/** Access that people gave to programs. Its id is that of the API key that is its access token. */
import { grantBounds } from '@lodge/domain';
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../../database/database.ts';
import type { OauthCodes, OauthGrants } from '../../database/tables.ts';
import type { KeyRow, NewKey } from '../keys.ts';

export type CodeRow = Selectable<OauthCodes> & { readonly isExpired: boolean };
export type GrantRow = Selectable<OauthGrants> & Pick<KeyRow, 'lastUsedAt'>;

/** A grant under its lock. `isFresh`: the last rotation is so young that its answer may have been lost. */
export type LockedGrant = GrantRow & { readonly isOver: boolean; readonly isFresh: boolean };

/** A code that comes again within this time ends what it gave. */
const codeKeptSeconds = 86_400;
const inSeconds = (count: number) => sql<Date>`clock_timestamp() + ${count} * interval '1 second'`;

/** Keeps the access to which a person agreed until its client exchanges the code. */
export async function insertCode(trx: Transaction, code: Omit<Insertable<OauthCodes>, 'expiresAt'>): Promise<void> {
  await trx
    .insertInto('oauthCodes')
    .values({ ...code, expiresAt: inSeconds(grantBounds.codeSeconds) })
    .execute();
}

/** Returns the account of a code, whatever its state. */
export const accountOfCode = (db: Queries, hash: Uint8Array): Promise<{ readonly accountId: string } | undefined> =>
  db.selectFrom('oauthCodes').select('accountId').where('hash', '=', hash).executeTakeFirst();

/** Locks a code, used or not. */
export const lockCode = (trx: Transaction, hash: Uint8Array): Promise<CodeRow | undefined> =>
  trx
    .selectFrom('oauthCodes')
    .selectAll()
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('isExpired'))
    .where('hash', '=', hash)
    .forNoKeyUpdate()
    .executeTakeFirst();

/** Hashes of a refresh token: of its half that stays, and of its half that changes. */
export interface RefreshHashes {
  readonly family: Uint8Array;
  readonly rotation: Uint8Array;
}

export type GrantKey = Pick<NewKey, 'name' | 'hash' | 'last4' | 'scopes'>;

/** Makes a grant of a code with its key, and marks the code as used. */
export async function insertGrant(
  trx: Transaction,
  code: CodeRow,
  redirectHost: string,
  { family, rotation }: RefreshHashes,
  { name, hash, last4, scopes }: GrantKey,
): Promise<GrantRow> {
  const { accountId, clientId, clientName, resource } = code;
  const { id: keyId } = await trx
    .insertInto('apiKeys')
    .values({ accountId, name, hash, last4, scopes, expiresAt: inSeconds(grantBounds.accessSeconds) })
    .returning('id')
    .executeTakeFirstOrThrow();
  const grant = await trx
    .insertInto('oauthGrants')
    .values({
      keyId,
      accountId,
      clientId,
      clientName,
      redirectHost,
      resource,
      scopes: code.scopes,
      familyHash: family,
      refreshHash: rotation,
      expiresAt: inSeconds(grantBounds.idleSeconds),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx.updateTable('oauthCodes').set({ keyId }).where('hash', '=', code.hash).execute();
  return { ...grant, lastUsedAt: null };
}

export const lockGrant = (trx: Transaction, id: string): Promise<LockedGrant | undefined> =>
  grantsWith(trx)
    .select(sql<boolean>`k.revoked_at is not null or g.expires_at <= clock_timestamp()`.as('isOver'))
    .select(
      sql<boolean>`g.rotated_at > clock_timestamp() - ${grantBounds.leewaySeconds} * interval '1 second'`.as('isFresh'),
    )
    .where('g.keyId', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();

/** Puts a new access and a new refresh token in place of the present ones. `keepsPrevious`: those before them stay known. */
export async function renewGrant(
  trx: Transaction,
  id: string,
  rotation: Uint8Array,
  { hash, last4, scopes }: GrantKey,
  keepsPrevious: boolean,
): Promise<void> {
  await trx
    .updateTable('oauthGrants')
    .set({
      refreshHash: rotation,
      expiresAt: inSeconds(grantBounds.idleSeconds),
      ...(!keepsPrevious && { previousHash: sql<Uint8Array>`refresh_hash`, rotatedAt: sql<Date>`clock_timestamp()` }),
    })
    .where('keyId', '=', id)
    .execute();
  await trx
    .updateTable('apiKeys')
    .set({ hash, last4, scopes, expiresAt: inSeconds(grantBounds.accessSeconds) })
    .where('id', '=', id)
    .execute();
}

/** Returns the grant of a refresh token's half that stays, or of an access token's hash. */
export const grantOf = (
  db: Queries,
  token: { readonly family: Uint8Array } | { readonly access: Uint8Array },
): Promise<GrantRow | undefined> => {
  const query = grantsWith(db);
  return (
    'family' in token ? query.where('g.familyHash', '=', token.family) : query.where('k.hash', '=', token.access)
  ).executeTakeFirst();
};

/** Returns grants in force, newest first. */
export const grantsOf = (db: Queries, accountId: string): Promise<readonly GrantRow[]> =>
  inForce(db, accountId).orderBy('g.createdAt', 'desc').orderBy('g.keyId').limit(1_000).execute();

/** Returns the grants in force beyond so many, those that were used longest ago. */
export const grantsBeyond = (trx: Transaction, accountId: string, count: number): Promise<readonly GrantRow[]> =>
  inForce(trx, accountId)
    .orderBy(sql`greatest(k.last_used_at, g.rotated_at)`, 'desc')
    .orderBy('g.keyId')
    .offset(count)
    .execute();

export async function pruneCodes(db: Queries, limit: number): Promise<void> {
  await sql`
    delete from oauth_codes where hash in (
      select hash from oauth_codes where expires_at < now() - ${codeKeptSeconds} * interval '1 second'
      order by expires_at limit ${limit} for update skip locked
    )
  `.execute(db);
}

const grantsWith = (db: Queries) =>
  db.selectFrom('oauthGrants as g').innerJoin('apiKeys as k', 'k.id', 'g.keyId').selectAll('g').select('k.lastUsedAt');

const inForce = (db: Queries, accountId: string) =>
  grantsWith(db)
    .where('g.accountId', '=', accountId)
    .where('k.revokedAt', 'is', null)
    .where('g.expiresAt', '>', sql<Date>`now()`);
