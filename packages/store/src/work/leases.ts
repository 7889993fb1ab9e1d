/** Times and claims by the database's clock, which alone decides when they end. A claim's number fences its writes. */
import type { TurnClaim } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';
import type { Schema } from '../database/schema.ts';

export const inMs = (ms: number): RawBuilder<Date> => sql<Date>`clock_timestamp() + ${ms} * interval '1 millisecond'`;

/** A table `k` of claims. */
export const claimRows = (claims: readonly TurnClaim[]): RawBuilder<unknown> => sql`
  unnest(${claims.map(({ id }) => id)}::text[], ${claims.map(({ claim }) => claim)}::integer[]) k (id, claim)
`;

/** Renews claims of rows `r` of a table and returns the ids of those still held. */
export async function renewClaims(
  db: Kysely<Schema>,
  table: RawBuilder<unknown>,
  claims: readonly TurnClaim[],
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
