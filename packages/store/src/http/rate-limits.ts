import { sliceOf } from '@lodge/domain';
import type { RateRule } from '@lodge/domain';
import type { LimitStore } from '@lodge/ports';
import { sql } from 'kysely';
import { advisoryLockClasses } from '../database/locks.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { inMs } from '../work/leases.ts';

/** A crash of the database may forget the last moments, because a flush of its log is not worth it. */
export const limitsIn = (database: Database): LimitStore => ({
  // Nobody can have more than one slice unused.
  lease: (subject, rule, wanted, returned) =>
    database.repeatable((db) => lease(db, subject, rule, { wanted, back: clamp(returned, sliceOf(rule)) })),
  enter: (subject, most, ttlMs) => database.transaction((trx) => enter(trx, subject, most, ttlMs)),
  async leave(place) {
    await database.repeatable((db) => db.deleteFrom('ratePlaces').where('id', '=', place).execute());
  },
  prune: () => database.repeatable(prune),
});

const clamp = (count: number, most: number): number => Math.max(0, Math.min(count, most));

interface Exchange {
  readonly wanted: number;
  readonly back: number;
}

async function lease(db: Queries, subject: string, { perMinute: capacity }: RateRule, { wanted, back }: Exchange) {
  const tokens = sql`least(${capacity}::float8, b.tokens + ${back}::float8
    + greatest(0, extract(epoch from clock_timestamp() - b.at)) * ${capacity}::float8 / 60)`;
  const { rows } = await sql<{ granted: number; left: number }>`
    with quick as (select set_config('synchronous_commit', 'off', true) as set)
    insert into rate_buckets as b (subject, tokens, granted, at)
    select ${subject}, ${capacity}::float8 - least(${wanted}::int, ${capacity}::int), least(${wanted}::int, ${capacity}::int), clock_timestamp()
    from quick
    on conflict (subject) do update set
      tokens = ${tokens} - least(${wanted}::int, floor(${tokens})),
      granted = least(${wanted}::int, floor(${tokens})),
      at = clock_timestamp()
    returning granted, tokens as "left"
  `.execute(db);
  return rows[0]!;
}

async function enter(trx: Transaction, subject: string, most: number, ttlMs: number): Promise<string | null> {
  await sql`select pg_advisory_xact_lock(${advisoryLockClasses.places}, hashtext(${subject}))`.execute(trx);
  const { rows } = await sql<{ id: string }>`
    insert into rate_places (subject, until)
    select ${subject}, ${inMs(ttlMs)}
    where (select count(*) from rate_places where subject = ${subject} and until > clock_timestamp()) < ${most}::int
    returning id
  `.execute(trx);
  return rows[0]?.id ?? null;
}

async function prune(db: Queries): Promise<void> {
  await sql`delete from rate_buckets where subject in (
    select subject from rate_buckets where at < now() - interval '2 minutes' limit 10000 for update skip locked
  )`.execute(db);
  await sql`delete from rate_places where until < now()`.execute(db);
}
