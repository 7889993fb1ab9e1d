import type { LinkKind, LinkRow, NewLink } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import type { AccountLinksTable } from './account-tables.ts';
import type { Schema } from '../database/schema.ts';
import { advisoryLocks } from '../database/locks.ts';
import { appendEvent } from '../events/append.ts';

type Db = Kysely<Schema>;

const columns = [
  'id',
  'kind',
  'account_id',
  'email',
  'role',
  'removes_totp',
  'created_at',
  'expires_at',
  'used_at',
] as const;

export async function findLink(db: Db, hash: Uint8Array): Promise<LinkRow | null> {
  const row = await db
    .selectFrom('account_links')
    .select(columns)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return row ? toLinkRow(row) : null;
}

export async function invitations(db: Db): Promise<LinkRow[]> {
  const rows = await db
    .selectFrom('account_links')
    .select(columns)
    .where('kind', '=', 'invite')
    .where((eb) => eb.or([eb('used_at', 'is not', null), eb('expires_at', '>', sql<Date>`now()`)]))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(1000)
    .execute();
  return rows.map(toLinkRow);
}

export async function createLink(trx: Db, link: NewLink): Promise<LinkRow> {
  const row = await trx
    .insertInto('account_links')
    .values({
      kind: link.kind,
      account_id: link.accountId,
      email: link.email,
      role: link.role ?? 'member',
      removes_totp: link.removesTotp ?? false,
      hash: link.hash,
      expires_at: sql<Date>`now() + ${link.lifetimeSeconds} * interval '1 second'`,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toLinkRow(row);
}

/** Uses up a link. The second of two simultaneous transactions waits for the first, and then finds the link used. */
export async function takeLink(trx: Db, kind: LinkKind, hash: Uint8Array): Promise<LinkRow | null> {
  const row = await trx
    .updateTable('account_links')
    .set({ used_at: sql<Date>`now()` })
    .where('hash', '=', hash)
    .where('kind', '=', kind)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(columns)
    .executeTakeFirst();
  return row ? toLinkRow(row) : null;
}

export async function endLinks(trx: Db, accountId: string, kind: LinkKind): Promise<void> {
  await trx
    .deleteFrom('account_links')
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .where('used_at', 'is', null)
    .execute();
}

export async function endInvitation(trx: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('account_links')
    .where('id', '=', id)
    .where('kind', '=', 'invite')
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Makes a link for the oldest owner, unless anybody can sign in or an owner link was ever made. */
export async function createFirstOwnerLink(trx: Db, link: Pick<NewLink, 'hash' | 'lifetimeSeconds'>): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.firstOwnerLink})`.execute(trx);
  const owner = await trx
    .selectFrom('accounts')
    .select('id')
    .where('role', '=', 'owner')
    .where(sql<boolean>`not exists (select from accounts where email is not null)`)
    .where(sql<boolean>`not exists (select from account_links where kind = 'owner')`)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  if (!owner) return false;
  const { id } = await createLink(trx, { ...link, kind: 'owner', accountId: owner.id, email: null });
  const event = { type: 'link.created', data: { kind: 'owner' } } as const;
  await appendEvent(trx, { ...event, accountId: owner.id, agentId: null, by: null, target: { kind: 'link', id } });
  return true;
}

/** Deletes used and expired links after a month. The first owner link stays as the mark that it was made. */
export async function pruneLinks(db: Db, limit: number): Promise<void> {
  await sql`
    delete from account_links where id in (
      select id from account_links
      where greatest(expires_at, used_at) < now() - interval '30 days' and (kind <> 'owner' or used_at is not null)
      limit ${limit} for update skip locked
    )
  `.execute(db);
}

function toLinkRow(row: Omit<Selectable<AccountLinksTable>, 'hash'>): LinkRow {
  return {
    id: row.id,
    kind: row.kind,
    accountId: row.account_id,
    email: row.email,
    role: row.role,
    removesTotp: row.removes_totp,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
  };
}
