/** Sessions of people. */
import { sessionLifetime } from '@lodge/domain';
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { Sessions } from '../database/tables.ts';

export type SessionRow = Selectable<Sessions>;

/** A condition: the session has neither reached its end nor been unused for too long (`sessionEnd`). */
export const sessionInForce = sql<boolean>`(
  sessions.expires_at > now() and sessions.last_seen_at > now() - ${sessionLifetime.idleSeconds} * interval '1 second'
)`;

const live = (db: Queries) => db.selectFrom('sessions').selectAll().where(sessionInForce);

export const findSession = (db: Queries, hash: Uint8Array): Promise<SessionRow | undefined> =>
  live(db).where('hash', '=', hash).executeTakeFirst();

/** Returns sessions in force, last seen first. */
export const sessionsOf = (db: Queries, accountId: string): Promise<readonly SessionRow[]> =>
  live(db).where('accountId', '=', accountId).orderBy('lastSeenAt', 'desc').orderBy('id').execute();

/** Writes when each session was last seen, by id, in one statement. */
export async function recordSeen(db: Queries, seen: ReadonlyMap<string, Date>): Promise<void> {
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

/** Opens a session and ends those beyond `most` that were seen longest ago. */
export async function openSession(
  trx: Transaction,
  session: Omit<Insertable<Sessions>, 'expiresAt'>,
  most: number,
): Promise<SessionRow> {
  const row = await trx
    .insertInto('sessions')
    .values({ ...session, expiresAt: sql<Date>`now() + ${sessionLifetime.absoluteSeconds} * interval '1 second'` })
    .returningAll()
    .executeTakeFirstOrThrow();
  await sql`
    delete from sessions where id in (
      select id from sessions where account_id = ${row.accountId} and id <> ${row.id}
      order by last_seen_at desc, id offset ${most - 1}
    )
  `.execute(trx);
  return row;
}

/** False when the account has no such session. */
export async function endSession(trx: Transaction, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function endSessions(trx: Transaction, accountId: string, except: string | null): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('accountId', '=', accountId)
    .$if(except !== null, (query) => query.where('id', '<>', except!))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export async function pruneSessions(db: Queries, limit: number): Promise<void> {
  await sql`
    delete from sessions where id in (select id from sessions where not ${sessionInForce} limit ${limit} for update skip locked)
  `.execute(db);
}
