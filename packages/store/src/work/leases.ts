/** Times and claims by the database's clock, which alone decides when they end. A claim's number fences its writes. */
import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import type { Queries } from '../database/database.ts';

/** A claim's number fences the writes of its holder. */
export interface WorkClaim {
  readonly id: string;
  readonly claim: number;
}

export const inMs = (ms: number): RawBuilder<Date> => sql<Date>`clock_timestamp() + ${ms} * interval '1 millisecond'`;

/**
 * A held connection is a row with a lease: a holder, an end, and a number that rises with each holder and fences the writes.
 * These are columns that a lease sets in the row `of`, and conditions on the row.
 */
export const takenBy = (of: string, holder: string, leaseMs: number): RawBuilder<unknown> => sql`
  lease_holder = ${holder}, lease_number = ${sql.ref(`${of}.lease_number`)} + 1, lease_until = ${inMs(leaseMs)}
`;
export const isUnheld = (of: string): RawBuilder<SqlBool> => sql<SqlBool>`
  (${sql.ref(`${of}.lease_until`)} is null or ${sql.ref(`${of}.lease_until`)} <= clock_timestamp())
`;
export const isHeldUnder = (of: string, number: unknown): RawBuilder<SqlBool> => sql<SqlBool>`
  ${sql.ref(`${of}.lease_number`)} = ${number} and ${sql.ref(`${of}.lease_until`)} > clock_timestamp()
`;
/** Ends a lease now. The time of its end stays. */
export const released = (of: string): RawBuilder<unknown> => sql`
  lease_until = least(${sql.ref(`${of}.lease_until`)}, clock_timestamp())
`;

/** A table `k` of claims. */
export const claimRows = (claims: readonly WorkClaim[]): RawBuilder<unknown> => sql`
  unnest(${claims.map(({ id }) => id)}::text[], ${claims.map(({ claim }) => claim)}::integer[]) k (id, claim)
`;

/** Renews claims of rows `r` of a table and returns the ids of those still held. */
export async function renewClaims(
  db: Queries,
  table: RawBuilder<unknown>,
  claims: readonly WorkClaim[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    update ${table} r set claim_until = ${inMs(leaseMs)}
    from ${claimRows(claims)} where r.id = k.id and r.claim = k.claim and r.claim_until is not null
    returning r.id
  `.execute(db);
  return new Set(rows.map(({ id }) => id));
}
