import type { AttemptLimit } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Schema } from '../database/schema.ts';

type Db = Kysely<Schema>;

/** Thrown inside the transaction, so that nothing in it is counted. */
class MustWait extends Error {
  readonly waitSeconds: number;
  constructor(waitSeconds: number) {
    super('must wait');
    this.waitSeconds = waitSeconds;
  }
}

/**
 * Counts an attempt on every limit or on none. The row's lock serialises simultaneous attempts over all processes, and each
 * has the time at which it got the lock. A day without an attempt restarts the count.
 */
export async function takeAttempt(
  db: Db,
  limits: readonly AttemptLimit[],
): Promise<{ readonly waitSeconds: number } | null> {
  // One order keeps two transactions from waiting for each other.
  const ordered = limits.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
  try {
    await db.transaction().execute(async (trx) => {
      for (const limit of ordered) await countOne(trx, limit);
    });
    return null;
  } catch (error) {
    if (error instanceof MustWait) return { waitSeconds: error.waitSeconds };
    throw error;
  }
}

async function countOne(trx: Db, { subject, free, maxWaitSeconds }: AttemptLimit): Promise<void> {
  const failures = sql`case when a.last_at < clock_timestamp() - interval '1 day' then 1 else a.failures + 1 end`;
  const { rows } = await sql<{ failures: number }>`
    insert into attempts as a (subject, failures, last_at) values (${subject}, 1, clock_timestamp())
    on conflict (subject) do update set
      failures = ${failures},
      last_at = clock_timestamp(),
      blocked_until = case when ${failures} < ${free}::int then null
        else clock_timestamp() + least(power(2, least(${failures} - ${free}::int, 30)), ${maxWaitSeconds}::int) * interval '1 second' end
    where a.blocked_until is null or a.blocked_until <= clock_timestamp()
    returning a.failures
  `.execute(trx);
  if (rows.length > 0) return;
  const { rows: blocked } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from blocked_until - clock_timestamp()))::int as seconds from attempts where subject = ${subject}
  `.execute(trx);
  throw new MustWait(Math.max(1, blocked[0]?.seconds ?? 1));
}

/** Takes an attempt back with the wait that it caused. Nobody could count another meanwhile. */
export async function giveBackAttempt(db: Db, subjects: readonly string[]): Promise<void> {
  await sql`
    update attempts a set failures = greatest(a.failures - 1, 0), blocked_until = null
    from (select subject from attempts where subject = any(${[...subjects]}) order by subject for no key update) l
    where a.subject = l.subject
  `.execute(db);
}

export async function clearAttempts(trx: Db, subjects: readonly string[]): Promise<void> {
  await trx.deleteFrom('attempts').where('subject', 'in', subjects).execute();
}

export async function pruneAttempts(db: Db, limit: number): Promise<void> {
  await sql`
    delete from attempts where subject in (
      select subject from attempts where last_at < now() - interval '1 day' order by last_at limit ${limit} for update skip locked
    )
  `.execute(db);
}
