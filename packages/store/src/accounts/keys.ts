/** API keys. Only the SHA-256 of a key is stored, and the last four characters. */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ApiKeys } from '../database/tables.ts';

export type KeyRow = Selectable<ApiKeys>;
export type NewKey = Insertable<ApiKeys>;

/** Whether a key is one by itself, and not the access token of a grant. */
const isMadeAsKey = sql<boolean>`not exists (select from oauth_grants g where g.key_id = api_keys.id)`;

/** Returns all keys of an account, newest first, revoked ones too. */
export const keysOf = (db: Queries, accountId: string): Promise<readonly KeyRow[]> =>
  db
    .selectFrom('apiKeys')
    .selectAll()
    .where('accountId', '=', accountId)
    .where(isMadeAsKey)
    .orderBy('createdAt', 'desc')
    .orderBy('id')
    .limit(1000)
    .execute();

export async function countLiveKeys(trx: Transaction, accountId: string): Promise<number> {
  const { live } = await trx
    .selectFrom('apiKeys')
    .select(({ fn }) => fn.countAll<string>().as('live'))
    .where('accountId', '=', accountId)
    .where('revokedAt', 'is', null)
    .where(isMadeAsKey)
    .where((eb) => eb.or([eb('expiresAt', 'is', null), eb('expiresAt', '>', sql<Date>`now()`)]))
    .executeTakeFirstOrThrow();
  return Number(live);
}

export const findKey = (db: Queries, accountId: string, id: string): Promise<KeyRow | undefined> =>
  db.selectFrom('apiKeys').selectAll().where('accountId', '=', accountId).where('id', '=', id).executeTakeFirst();

export const keyByHash = (db: Queries, hash: Uint8Array): Promise<KeyRow | undefined> =>
  db.selectFrom('apiKeys').selectAll().where('hash', '=', hash).executeTakeFirst();

export const insertKey = (trx: Transaction, key: NewKey): Promise<KeyRow> =>
  trx.insertInto('apiKeys').values(key).returningAll().executeTakeFirstOrThrow();

/**
 * Revokes a key with those that it made and that they made, in one statement, and returns the ids of those that were in force.
 * The caller has locked the account: no key of it is made meanwhile.
 */
export async function revokeKeys(trx: Transaction, accountId: string, id: string): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly id: string }>`
    with recursive ended as (
      select id from api_keys where account_id = ${accountId} and id = ${id}
      union
      select k.id from api_keys k join ended on k.made_by = ended.id
    )
    update api_keys k set revoked_at = now() from ended
    where k.id = ended.id and k.revoked_at is null
    returning k.id
  `.execute(trx);
  return rows.map((row) => row.id);
}

/** Writes when keys were last used, by id, in one statement. */
export async function recordKeyUse(db: Queries, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return;
  // Rows are locked in one order, so two processes that write the same keys at once do not deadlock.
  await sql`
    with used as (
      select k.id, u.at
      from api_keys k join unnest(${[...uses.keys()]}::text[], ${[...uses.values()]}::timestamptz[]) u (id, at) using (id)
      order by k.id
      for no key update of k
    )
    update api_keys k set last_used_at = greatest(k.last_used_at, used.at) from used where k.id = used.id
  `.execute(db);
}
