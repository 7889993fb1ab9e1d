/** Counted attempts at what may be guessed. */
import { sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';

/**
 * The subject that attempts are counted by. The first `free` attempts of a day cost nothing. Each further one doubles the
 * wait, up to `maxWaitSeconds`.
 */
export interface AttemptLimit {
  readonly subject: string;
  readonly free: number;
  readonly maxWaitSeconds: number;
}

/**
 * Counts an attempt, or returns the seconds to wait. One statement decides, for speed: the row's lock serialises simultaneous
 * attempts over all processes, and each has the time at which it got the lock. A day without an attempt restarts the count.
 */
export async function countAttempt(
  trx: Transaction,
  { subject, free, maxWaitSeconds }: AttemptLimit,
): Promise<number | null> {
  const failures = sql`case when a.last_at < clock_timestamp() - interval '1 day' then 1 else a.failures + 1 end`;
  const { rows } = await sql`
    insert into attempts as a (subject, failures, last_at) values (${subject}, 1, clock_timestamp())
    on conflict (subject) do update set
      failures = ${failures},
      last_at = clock_timestamp(),
      blocked_until = case when ${failures} < ${free}::int then null
        else clock_timestamp() + least(power(2, least(${failures} - ${free}::int, 30)), ${maxWaitSeconds}::int) * interval '1 second' end
    where a.blocked_until is null or a.blocked_until <= clock_timestamp()
    returning a.failures
  `.execute(trx);
  if (rows.length > 0) return null;
  const { rows: blocked } = await sql<{ readonly seconds: number }>`
    select ceil(extract(epoch from blocked_until - clock_timestamp()))::int as seconds from attempts where subject = ${subject}
  `.execute(trx);
  return Math.max(1, blocked[0]?.seconds ?? 1);
}

/** Takes one attempt off again with the wait that it caused. Nobody could count another meanwhile. */
export async function giveBackAttempt(db: Queries, subjects: readonly string[]): Promise<void> {
  await sql`
    update attempts a set failures = greatest(a.failures - 1, 0), blocked_until = null
    from (select subject from attempts where subject = any(${[...subjects]}) order by subject for no key update) l
    where a.subject = l.subject
  `.execute(db);
}

export async function clearAttempts(trx: Transaction, subjects: readonly string[]): Promise<void> {
  await trx.deleteFrom('attempts').where('subject', 'in', subjects).execute();
}

export async function pruneAttempts(db: Queries, limit: number): Promise<void> {
  await sql`
    delete from attempts where subject in (
      select subject from attempts where last_at < now() - interval '1 day' order by last_at limit ${limit} for update skip locked
    )
  `.execute(db);
}
