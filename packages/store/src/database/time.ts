import { sql } from 'kysely';
import type { QueryExecutorProvider } from 'kysely';

/** The database's present time, which goes on within a transaction. */
export async function databaseTime(trx: QueryExecutorProvider): Promise<Date> {
  const { rows } = await sql<{ readonly now: Date }>`select clock_timestamp() as now`.execute(trx);
  return rows[0]!.now;
}
