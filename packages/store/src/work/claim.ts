import { sql } from 'kysely';
import type { RawBuilder, SqlBool, Transaction } from 'kysely';
import type { ClaimOptions } from '@lodge/ports';
import { inMs } from './leases.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Schema } from '../database/schema.ts';
import type { WorkKind } from './tables.ts';

interface Claimed<Facts> {
  readonly id: string;
  readonly claim: number;
  /** Number of earlier claims. */
  readonly attempts: number;
  readonly may_have_acted: boolean;
  readonly facts: Facts;
}

/** Longest delay. A later due time is from before the clock went back. */
const furthestMs = 3_600_000;

/** A condition on a row `w`. */
const isDue: RawBuilder<SqlBool> = sql`
  (w.due_at <= clock_timestamp() or w.due_at > clock_timestamp() + ${furthestMs} * interval '1 millisecond')
`;

/** A condition on a row `w` with a claim: somebody holds it. */
const isHeld = ({ leaseMs, except }: ClaimOptions): RawBuilder<SqlBool> => sql`
  (w.claim_until > clock_timestamp() and w.claim_until < clock_timestamp() + 2 * ${leaseMs} * interval '1 millisecond'
    or w.id = any(${[...except]}::text[]))
`;

/**
 * Claims the first pieces of lanes in which nothing is under way. It looks at one row of each lane, because thousands may
 * wait behind it. An account's n-th piece waits behind the n-th of all others, however long it has waited. `facts` gives,
 * as JSON, the facts of a piece of this kind with the id `taken.id`. One process claims at a time, so the pieces of lanes and
 * accounts are counted correctly.
 */
export async function claimWork<Facts>(
  trx: Transaction<Schema>,
  kind: WorkKind,
  options: ClaimOptions,
  facts: RawBuilder<Facts>,
): Promise<readonly Claimed<Facts>[]> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.workClaims})`.execute(trx);
  const { holder, host, limit, leaseMs } = options;
  const { rows } = await sql<Claimed<Facts>>`
    with recursive firsts as (
      (select ${first} from work w where w.kind = ${kind} order by w.lane, w.due_at, w.seq limit 1)
      union all
      select next.* from firsts f cross join lateral (
        select ${first} from work w where w.kind = ${kind} and w.lane > f.lane order by w.lane, w.due_at, w.seq limit 1
      ) next
    ), busy as materialized (
      select w.lane, w.account_id from work w where w.kind = ${kind} and w.claim_holder is not null and ${isHeld(options)}
    ), ready as (
      select w.* from firsts w join agents a on a.id = w.agent_id and a.desired = 'running' and (a.host is null or a.host = ${host})
      where ${isDue} and not exists (select from busy b where b.lane = w.lane)
    ), ranked as (
      select id, due_at, seq, row_number() over (partition by account_id order by due_at, seq)
        + (select count(*) from busy b where b.account_id = ready.account_id) as of_account
      from ready
    ), chosen as (
      select id, of_account, due_at, seq from ranked order by of_account, due_at, seq limit ${limit}
    ), free as materialized (
      select w.id from work w join chosen using (id) where w.kind = ${kind} for no key update of w skip locked
    ), taken as (
      update work w set claim = w.claim + 1, claim_holder = ${holder}, claim_until = ${inMs(leaseMs)},
        attempts = w.attempts + 1, may_have_acted = w.may_have_acted or w.attempt_at is not null,
        attempt_at = coalesce(w.attempt_at, clock_timestamp()), started_at = coalesce(w.started_at, clock_timestamp())
      from free where w.kind = ${kind} and w.id = free.id
      returning w.id, w.claim, w.attempts - 1 as attempts, w.may_have_acted
    )
    select taken.*, ${facts} as facts from taken join chosen using (id)
    order by chosen.of_account, chosen.due_at, chosen.seq
  `.execute(trx);
  return rows.filter(({ facts: found }) => found !== null);
}

/** Columns of a row `w`. */
const first = sql`w.id, w.lane, w.account_id, w.agent_id, w.due_at, w.seq`;
