import { sliceOf } from '@lodge/domain';
import type { RateRule } from '@lodge/domain';
import type { LimitStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';
import { advisoryLockClasses } from '../database/locks.ts';

/**
 * `LimitStore` in Postgres. A crash of the database may forget the last moments, because a flush of its log is not worth it.
 */
export class PostgresLimitStore implements LimitStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  lease(
    subject: string,
    rule: RateRule,
    wanted: number,
    returned: number,
  ): Promise<{ readonly granted: number; readonly left: number }> {
    const capacity = rule.perMinute;
    // Nobody can have more than one slice unused.
    const back = Math.max(0, Math.min(returned, sliceOf(rule)));
    const tokens = sql`least(${capacity}::float8, b.tokens + ${back}::float8
      + greatest(0, extract(epoch from clock_timestamp() - b.at)) * ${capacity}::float8 / 60)`;
    return this.database.repeatable(async (db) => {
      const { rows } = await sql<{ granted: number; tokens: number }>`
        with quick as (select set_config('synchronous_commit', 'off', true) as set)
        insert into rate_buckets as b (subject, tokens, granted, at)
        select ${subject}, ${capacity}::float8 - least(${wanted}::int, ${capacity}::int), least(${wanted}::int, ${capacity}::int), clock_timestamp()
        from quick
        on conflict (subject) do update set
          tokens = ${tokens} - least(${wanted}::int, floor(${tokens})),
          granted = least(${wanted}::int, floor(${tokens})),
          at = clock_timestamp()
        returning granted, tokens
      `.execute(db);
      return { granted: rows[0]!.granted, left: rows[0]!.tokens };
    });
  }

  enter(subject: string, most: number, ttlMs: number): Promise<string | null> {
    return this.database.once((db) =>
      db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(${advisoryLockClasses.places}, hashtext(${subject}))`.execute(trx);
        const { rows } = await sql<{ id: string }>`
          insert into rate_places (subject, until)
          select ${subject}, clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
          where (select count(*) from rate_places where subject = ${subject} and until > clock_timestamp()) < ${most}::int
          returning id
        `.execute(trx);
        return rows[0]?.id ?? null;
      }),
    );
  }

  async leave(place: string): Promise<void> {
    await this.database.repeatable((db) => db.deleteFrom('rate_places').where('id', '=', place).execute());
  }

  async prune(): Promise<void> {
    await this.database.repeatable((db) =>
      sql`delete from rate_buckets where subject in (
        select subject from rate_buckets where at < now() - interval '2 minutes' limit 10000 for update skip locked
      )`.execute(db),
    );
    await this.database.repeatable((db) => sql`delete from rate_places where until < now()`.execute(db));
  }
}
