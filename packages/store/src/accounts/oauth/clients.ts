import { grantBounds, networkOf } from '@lodge/domain';
import type { OAuthClient } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { advisoryLocks } from '../../database/locks.ts';
import type { Schema } from '../../database/schema.ts';

type Db = Kysely<Schema>;

/** Counts under a lock, so that clients which register at once do not pass the bounds. */
export function registerClient(db: Db, client: OAuthClient, address: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${advisoryLocks.oauthClients})`.execute(trx);
    await pruneClients(trx, 100);
    const network = networkOf(address);
    const counted = await trx
      .selectFrom('oauth_clients')
      .select(({ fn }) => fn.countAll<string>().as('all'))
      .select(
        sql<string>`count(*) filter (where network = ${network} and created_at > now() - interval '1 day')`.as('own'),
      )
      .executeTakeFirstOrThrow();
    const { maxClients, maxClientsOfNetwork } = grantBounds;
    if (Number(counted.own) >= maxClientsOfNetwork || Number(counted.all) >= maxClients) return false;
    const { id, name, redirectUris } = client;
    await trx.insertInto('oauth_clients').values({ id, name, redirect_uris: redirectUris, network }).execute();
    return true;
  });
}

export async function findClient(db: Db, id: string): Promise<OAuthClient | null> {
  const row = await db
    .selectFrom('oauth_clients')
    .select(['id', 'name', 'redirect_uris'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? null : { id: row.id, name: row.name, redirectUris: row.redirect_uris };
}

export async function noteUse(trx: Db, id: string): Promise<void> {
  await trx
    .updateTable('oauth_clients')
    .set({ used_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
}

/**
 * Removes clients to which nobody agreed within a week, and those whose last grant is long over. A program keeps its id, and
 * many cannot get another one by themselves.
 */
export async function pruneClients(db: Db, limit: number): Promise<void> {
  await sql`
    delete from oauth_clients where id in (
      select id from oauth_clients c
      where (used_at is null and created_at < now() - interval '7 days')
        or (used_at < now() - interval '90 days' and not exists (
          select from oauth_grants g where g.client_id = c.id and g.expires_at > now()
        ))
      limit ${limit} for update skip locked
    )
  `.execute(db);
}
