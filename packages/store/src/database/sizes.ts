import type { StoredSizes } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Returns the bytes of the whole database, and of its counted parts, over all accounts. */
export async function storedSizes(database: Database): Promise<StoredSizes> {
  const { rows } = await database.repeatable((db) =>
    sql<Record<keyof StoredSizes, string>>`
      select pg_database_size(current_database()) as database,
        coalesce(sum(bytes) filter (where kind = 'replies'), 0) as replies,
        coalesce(sum(bytes) filter (where kind = 'contents'), 0) as contents
      from stored_bytes
    `.execute(db),
  );
  const { database: all, replies, contents } = rows[0]!;
  return { database: Number(all), replies: Number(replies), contents: Number(contents) };
}
