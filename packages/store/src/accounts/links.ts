/** Links by which people come to an account: the owner's, invitations, and those of a forgotten password. */
import type { LinkKind } from '@lodge/domain';
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { AccountLinks } from '../database/tables.ts';

export type LinkRow = Selectable<AccountLinks>;
export type NewLink = Omit<Insertable<AccountLinks>, 'expiresAt'> & { readonly lifetimeSeconds: number };

const isOpen = sql<boolean>`(used_at is null and expires_at > now())`;

/** Returns a link that can still be used. */
export const findLink = (db: Queries, hash: Uint8Array): Promise<LinkRow | undefined> =>
  db.selectFrom('accountLinks').selectAll().where('hash', '=', hash).where(isOpen).executeTakeFirst();

/** Returns invitations that were accepted or can still be, newest first. */
export const invitationsOf = (db: Queries): Promise<readonly LinkRow[]> =>
  db
    .selectFrom('accountLinks')
    .selectAll()
    .where('kind', '=', 'invite')
    .where((eb) => eb.or([eb('usedAt', 'is not', null), eb('expiresAt', '>', sql<Date>`now()`)]))
    .orderBy('createdAt', 'desc')
    .orderBy('id')
    .limit(1000)
    .execute();

export const insertLink = (trx: Transaction, { lifetimeSeconds, ...link }: NewLink): Promise<LinkRow> =>
  trx
    .insertInto('accountLinks')
    .values({ ...link, expiresAt: sql<Date>`now() + ${lifetimeSeconds} * interval '1 second'` })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Uses up a link. The second of two simultaneous transactions waits for the first, and then finds the link used. */
export const takeLink = (trx: Transaction, kind: LinkKind, hash: Uint8Array): Promise<LinkRow | undefined> =>
  trx
    .updateTable('accountLinks')
    .set({ usedAt: sql<Date>`now()` })
    .where('hash', '=', hash)
    .where('kind', '=', kind)
    .where(isOpen)
    .returningAll()
    .executeTakeFirst();

/** Ends the account's unused links of a kind. */
export async function endLinks(trx: Transaction, accountId: string, kind: LinkKind): Promise<void> {
  await trx
    .deleteFrom('accountLinks')
    .where('accountId', '=', accountId)
    .where('kind', '=', kind)
    .where('usedAt', 'is', null)
    .execute();
}

/** False when there is no such invitation that can still be accepted. */
export async function endInvitation(trx: Transaction, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('accountLinks')
    .where('id', '=', id)
    .where('kind', '=', 'invite')
    .where(isOpen)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Returns the id of the oldest owner, unless anybody can sign in or an owner link was ever made. Under the lock of the first
 * owner link, which nobody else makes meanwhile.
 */
export async function lockFirstOwner(trx: Transaction): Promise<string | undefined> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.firstOwnerLink})`.execute(trx);
  const owner = await trx
    .selectFrom('accounts')
    .select('id')
    .where('role', '=', 'owner')
    .where(sql<boolean>`not exists (select from accounts where email is not null)`)
    .where(sql<boolean>`not exists (select from account_links where kind = 'owner')`)
    .orderBy('createdAt')
    .limit(1)
    .executeTakeFirst();
  return owner?.id;
}

/** Deletes used and expired links after a month. The first owner link stays as the mark that it was made. */
export async function pruneLinks(db: Queries, limit: number): Promise<void> {
  await sql`
    delete from account_links where id in (
      select id from account_links
      where greatest(expires_at, used_at) < now() - interval '30 days' and (kind <> 'owner' or used_at is not null)
      limit ${limit} for update skip locked
    )
  `.execute(db);
}
