/** The right to change an agent's VM, which one process has at a time. */
import { sql } from 'kysely';
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely';
import type { Database } from '../database/database.ts';
import type { DB } from '../database/tables.ts';
import { inMs } from '../work/leases.ts';

/**
 * Commits without waiting for the disk. A lease that a crash of the database forgets is taken anew, and every decision made
 * under it is void, because `observe` checks the lease.
 */
const withoutSync = sql<SqlBool>`set_config('synchronous_commit', 'off', true) = 'off'`;

/** The lease of this process under its holder's name. */
export const leaseOf = ({ session }: Database, holder: string): string => `${holder}#${session}`;

/**
 * Takes the right to change this agent's VM for `holder`, until `ttlMs` from now by the database's clock. False when another
 * holder has it. Renewing one's own succeeds.
 */
export async function leaseAgent(database: Database, id: string, holder: string, ttlMs: number): Promise<boolean> {
  const { numUpdatedRows } = await database.repeatable((db) =>
    db
      .updateTable('agents')
      .set({ leaseHolder: leaseOf(database, holder), leaseUntil: inMs(ttlMs) })
      .where('id', '=', id)
      .where('deletedAt', 'is', null)
      .where(withoutSync)
      .where((eb) =>
        eb.or([
          eb('leaseHolder', 'is', null),
          // A killed process has not released it. Its successor on that host takes it over.
          eb(sql<string>`split_part(lease_holder, '#', 1)`, '=', holder),
          eb('leaseUntil', '<=', sql<Date>`clock_timestamp()`),
        ]),
      )
      .executeTakeFirst(),
  );
  return numUpdatedRows === 1n;
}

export async function releaseAgent(database: Database, id: string, holder: string): Promise<void> {
  await database.repeatable((db) =>
    db
      .updateTable('agents')
      .set({ leaseHolder: null, leaseUntil: null })
      .where('id', '=', id)
      .where('leaseHolder', '=', leaseOf(database, holder))
      .where(withoutSync)
      .execute(),
  );
}

/** A condition: the agent is not deleted, and this lease of it is in force. */
export const heldBy =
  (lease: string) =>
  (eb: ExpressionBuilder<DB, 'agents'>): ExpressionWrapper<DB, 'agents', SqlBool> =>
    eb.and([
      eb('agents.deletedAt', 'is', null),
      eb('agents.leaseHolder', '=', lease),
      eb('agents.leaseUntil', '>', sql<Date>`clock_timestamp()`),
    ]);
