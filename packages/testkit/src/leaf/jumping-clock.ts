/** A database whose clock a test sets: every statement that asks for the time gets it, as after a jump of the machine's clock. */
import { execute } from './postgres.ts';
import type { TestDatabase } from './postgres.ts';

/** For connections that are opened from now on; the schema is there already. Resolves to what sets the clock ahead by so much. */
export async function jumpingClock({
  connectionString,
}: Pick<TestDatabase, 'connectionString'>): Promise<(aheadMs: number) => Promise<void>> {
  const name = decodeURIComponent(new URL(connectionString).pathname.slice(1));
  const statements = [
    'create table clock_ahead (ms bigint not null)',
    'insert into clock_ahead values (0)',
    `create function public.clock_timestamp() returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + (select ms from public.clock_ahead) * interval ''1 millisecond'''`,
    // Ours comes before the server's own.
    `alter database "${name}" set search_path = public, pg_catalog`,
  ];
  for (const statement of statements) await execute(connectionString, statement);
  return async (aheadMs) => {
    await execute(connectionString, `update clock_ahead set ms = ${aheadMs}`);
  };
}
