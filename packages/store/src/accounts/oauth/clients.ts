/** Programs that registered themselves. */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../../database/database.ts';
import { advisoryLocks } from '../../database/locks.ts';
import type { OauthClients } from '../../database/tables.ts';

export type ClientRow = Selectable<OauthClients>;

/** Counts clients, and those of a network of the last day. No other registers until the transaction ends. */
export async function lockClients(
  trx: Transaction,
  network: string,
): Promise<{ readonly all: number; readonly ofNetwork: number }> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.oauthClients})`.execute(trx);
  await pruneClients(trx, 100);
  return trx
    .selectFrom('oauthClients')
    .select(sql<number>`count(*)::int`.as('all'))
    .select(
      sql<number>`count(*) filter (where network = ${network} and created_at > now() - interval '1 day')::int`.as(
        'ofNetwork',
      ),
    )
    .executeTakeFirstOrThrow();
}

export async function insertClient(trx: Transaction, client: Insertable<OauthClients>): Promise<void> {
  await trx.insertInto('oauthClients').values(client).execute();
}

export const findClient = (db: Queries, id: string): Promise<ClientRow | undefined> =>
  db.selectFrom('oauthClients').selectAll().where('id', '=', id).executeTakeFirst();

/** Remembers the client as one that somebody agreed to. */
export async function noteUse(trx: Transaction, id: string): Promise<void> {
  await trx
    .updateTable('oauthClients')
    .set({ usedAt: sql<Date>`now()` })
    .where('id', '=', id)
    .execute();
}

/**
 * Removes clients to which nobody agreed within a week, and those whose last grant is long over. A program keeps its id, and
 * many cannot get another one by themselves.
 */
export async function pruneClients(db: Queries, limit: number): Promise<void> {
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
