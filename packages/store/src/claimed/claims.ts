/**
 * Claims of rows that wait for turns of their agents. A claim ends by the database's clock, and its number fences its
 * writes. A claim that ends later than any can is from before the clock went back, and nobody holds it.
 */
import type { ClaimOptions, Postponement, TurnClaim } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import { inMs } from '../channels/leases.ts';
import type { Database } from '../database/connection.ts';

/** A table `k` of claims. */
export const claimRows = (claims: readonly TurnClaim[]): RawBuilder<unknown> => sql`
  unnest(${claims.map(({ id }) => id)}::text[], ${claims.map(({ claim }) => claim)}::integer[]) k (id, claim)
`;

/** Renews claims and returns the ids of those still held. */
export async function renewClaims(
  database: Database,
  table: string,
  claims: readonly TurnClaim[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  const { rows } = await database.repeatable((db) =>
    sql<{ id: string }>`
      update ${sql.table(table)} r set claim_until = ${inMs(leaseMs)}
      from ${claimRows(claims)} where r.id = k.id and r.claim = k.claim and r.claim_until is not null
      returning r.id
    `.execute(db),
  );
  return new Set(rows.map(({ id }) => id));
}

/** Ends a claim and sets `also`. False when the claim was lost. */
export async function postponeClaim(
  database: Database,
  table: string,
  { id, claim }: TurnClaim,
  { afterMs, mayHaveActed }: Postponement,
  also: RawBuilder<unknown>,
): Promise<boolean> {
  const { numAffectedRows } = await database.once((db) =>
    sql`
      update ${sql.table(table)} r set claim_holder = null, claim_until = null, due_at = ${inMs(afterMs)},
        may_have_acted = r.may_have_acted or ${mayHaveActed}, attempt_at = null, ${also}
      where r.id = ${id} and r.claim = ${claim} and r.claim_until is not null and r.status is null
    `.execute(db),
  );
  return numAffectedRows === 1n;
}

/** Longest delay. A later due time is from before the clock went back. */
const furthestMs = 3_600_000;

/** A condition on a row `r`. */
export const isDue: RawBuilder<SqlBool> = sql`
  (r.due_at <= clock_timestamp() or r.due_at > clock_timestamp() + ${furthestMs} * interval '1 millisecond')
`;

/** A condition on a row `r` with a claim: somebody holds it. */
const isHeld = ({ leaseMs, except }: ClaimOptions): RawBuilder<SqlBool> => sql`
  (r.claim_until > clock_timestamp() and r.claim_until < clock_timestamp() + 2 * ${leaseMs} * interval '1 millisecond'
    or r.id = any(${[...except]}::text[]))
`;

/** A table `busy` of the agents and accounts with claimed rows. */
export const busyIn = (table: string, options: ClaimOptions): RawBuilder<unknown> => sql`
  busy as materialized (
    select agent_id, account_id from ${sql.table(table)} r
    where r.status is null and r.claim_until is not null and ${isHeld(options)}
  )
`;

/**
 * A table `chosen` from `ready`, which has one row of an agent. An account's n-th row waits behind the n-th of all others,
 * however long it has waited.
 */
export const chosenOf = ({ limit }: ClaimOptions): RawBuilder<unknown> => sql`
  ranked as (
    select id, due_at, seq, row_number() over (partition by account_id order by due_at, seq)
      + (select count(*) from busy b where b.account_id = ready.account_id) as of_account
    from ready
  ), chosen as (
    select id, of_account, due_at, seq from ranked order by of_account, due_at, seq limit ${limit}
  )
`;

/** The columns that a claim sets in the row `r`. */
export const claimedColumns = ({ holder, leaseMs }: ClaimOptions): RawBuilder<unknown> => sql`
  claim = r.claim + 1, claim_holder = ${holder}, claim_until = ${inMs(leaseMs)}, attempts = r.attempts + 1,
  may_have_acted = r.may_have_acted or r.attempt_at is not null, attempt_at = clock_timestamp(),
  started_at = coalesce(r.started_at, clock_timestamp())
`;
