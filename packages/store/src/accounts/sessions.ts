import { sessionLifetime } from '@lodge/ports';
import type { NewSession, SessionRow } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, Selectable } from 'kysely';
import type { Schema } from '../database/schema.ts';

type Db = Kysely<Schema>;
type Row = Omit<Selectable<Schema['sessions']>, 'hash'>;

const idleMs = sessionLifetime.idleSeconds * 1000;

const columns = [
  'sessions.id',
  'sessions.account_id',
  'sessions.created_at',
  'sessions.last_seen_at',
  'sessions.expires_at',
  'sessions.address',
  'sessions.user_agent',
] as const;

/** A condition: the session has neither reached its end nor been unused for too long. */
export const sessionInForce = sql<boolean>`(
  sessions.expires_at > now() and sessions.last_seen_at > now() - ${sessionLifetime.idleSeconds} * interval '1 second'
)`;

export async function findSession(db: Db, hash: Uint8Array): Promise<SessionRow | null> {
  const row = await db
    .selectFrom('sessions')
    .select(columns)
    .where('hash', '=', hash)
    .where(sessionInForce)
    .executeTakeFirst();
  return row ? toSessionRow(row) : null;
}

export async function sessionsOf(db: Db, accountId: string): Promise<SessionRow[]> {
  const rows = await db
    .selectFrom('sessions')
    .select(columns)
    .where('account_id', '=', accountId)
    .where(sessionInForce)
    .orderBy('last_seen_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map(toSessionRow);
}

export async function recordSeen(db: Db, seen: ReadonlyMap<string, Date>): Promise<void> {
  if (seen.size === 0) return;
  // Rows are locked in one order, so two processes that write the same sessions at once do not deadlock.
  await sql`
    with seen as (
      select s.id, u.at
      from sessions s join unnest(${[...seen.keys()]}::text[], ${[...seen.values()]}::timestamptz[]) u (id, at) using (id)
      order by s.id
      for no key update of s
    )
    update sessions s set last_seen_at = greatest(s.last_seen_at, seen.at) from seen where s.id = seen.id
  `.execute(db);
}

export async function openSession(trx: Db, session: NewSession, most: number): Promise<SessionRow> {
  const { accountId, hash, address, userAgent } = session;
  const row = await trx
    .insertInto('sessions')
    .values({
      account_id: accountId,
      hash,
      expires_at: sql<Date>`now() + ${sessionLifetime.absoluteSeconds} * interval '1 second'`,
      address,
      user_agent: userAgent,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  await sql`
    delete from sessions where id in (
      select id from sessions where account_id = ${accountId} and id <> ${row.id}
      order by last_seen_at desc, id offset ${most - 1}
    )
  `.execute(trx);
  return toSessionRow(row);
}

export async function endSession(trx: Db, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function endSessions(trx: Db, accountId: string, except: string | null): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('account_id', '=', accountId)
    .$if(except !== null, (query) => query.where('id', '<>', except!))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export async function pruneSessions(db: Db, limit: number): Promise<void> {
  await sql`
    delete from sessions where id in (select id from sessions where not ${sessionInForce} limit ${limit} for update skip locked)
  `.execute(db);
}

function toSessionRow(row: Row): SessionRow {
  return {
    id: row.id,
    accountId: row.account_id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
    expiresAt: new Date(Math.min(row.expires_at.getTime(), row.last_seen_at.getTime() + idleMs)),
    address: row.address,
    userAgent: row.user_agent,
  };
}
