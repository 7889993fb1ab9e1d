import { sql } from 'kysely';
import type { Queries } from './database.ts';

/** The database's present time, which goes on within a transaction. */
export async function databaseTime(db: Queries): Promise<Date> {
  const { rows } = await sql<{ readonly now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]!.now;
}
