import { sql } from 'kysely';
import type { RawBuilder, SqlBool } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { advisoryLocks } from '../database/locks.ts';
import { inMs, renewClaims } from './leases.ts';
import type { WorkClaim } from './leases.ts';
import { kinds } from './kinds.ts';
import type { ClaimedPiece } from './kinds.ts';
import type { WorkKind } from './tables.ts';

export interface ClaimOptions {
  readonly holder: string;
  readonly host: string;
  /** Most pieces of each kind. A kind without a place is not looked at. */
  readonly places: Readonly<Partial<Record<WorkKind, number>>>;
  readonly leaseMs: number;
  /** Ids that this process works on itself. */
  readonly except: readonly string[];
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

/** Columns of a row `w`. */
const first = sql`w.kind, w.id, w.lane, w.account_id, w.agent_id, w.due_at, w.seq`;

const facts = sql`
  case taken.kind ${sql.join(
    Object.entries(kinds).map(([kind, each]) => sql`when ${kind} then ${each.facts}`),
    sql` `,
  )} end
`;

/**
 * Claims the first pieces of lanes in which nothing is under way, of agents on `host` or on none. It looks at one row of each
 * lane, because thousands may wait behind it. The longest due come first, but an account's n-th piece waits behind the n-th
 * of all others. One process claims at a time, so the pieces of lanes and accounts are counted correctly. A claim ends after
 * `leaseMs` unless renewed.
 */
export async function claimWork(trx: Transaction, options: ClaimOptions): Promise<readonly ClaimedPiece[]> {
  const { holder, host, places, leaseMs } = options;
  const asked = Object.entries(places).filter(([, count]) => count > 0);
  if (asked.length === 0) return [];
  await sql`select pg_advisory_xact_lock(${advisoryLocks.workClaims})`.execute(trx);
  const { rows } = await sql<ClaimedPiece>`
    with recursive asked as materialized (
      select kind collate "C" as kind, places
      from unnest(${asked.map(([kind]) => kind)}::text[], ${asked.map(([, count]) => count)}::integer[]) a (kind, places)
    ), firsts as (
      select f.* from asked cross join lateral (
        select ${first} from work w where w.kind = asked.kind order by w.lane, w.due_at, w.seq limit 1
      ) f
      union all
      select next.* from firsts f cross join lateral (
        select ${first} from work w where w.kind = f.kind and w.lane > f.lane order by w.lane, w.due_at, w.seq limit 1
      ) next
    ), busy as materialized (
      select w.kind, w.lane, w.account_id from work w where w.claim_holder is not null and ${isHeld(options)}
    ), ready as (
      select w.* from firsts w join agents a on a.id = w.agent_id and a.desired = 'running' and (a.host is null or a.host = ${host})
      where ${isDue} and not exists (select from busy b where b.kind = w.kind and b.lane = w.lane)
    ), ranked as (
      select kind, id, due_at, seq, row_number() over (partition by kind, account_id order by due_at, seq)
        + (select count(*) from busy b where b.kind = ready.kind and b.account_id = ready.account_id) as of_account
      from ready
    ), chosen as (
      select kind, id, of_account, due_at, seq from (
        select *, row_number() over (partition by kind order by of_account, due_at, seq) as place from ranked
      ) r join asked using (kind) where place <= places
    ), free as materialized (
      select w.kind, w.id from work w join chosen using (id, kind) for no key update of w skip locked
    ), taken as (
      update work w set claim = w.claim + 1, claim_holder = ${holder}, claim_until = ${inMs(leaseMs)},
        attempts = w.attempts + 1, may_have_acted = w.may_have_acted or w.attempt_at is not null,
        attempt_at = coalesce(w.attempt_at, clock_timestamp()), started_at = coalesce(w.started_at, clock_timestamp())
      from free where w.kind = free.kind and w.id = free.id
      returning w.kind, w.id, w.claim, w.attempts - 1 as attempts, w.may_have_acted
    )
    select taken.*, ${facts} as facts from taken join chosen using (id, kind)
    order by chosen.of_account, chosen.due_at, chosen.seq
  `.execute(trx);
  return rows.filter((piece) => piece.facts !== null);
}

/** Renews claims and returns the ids of those still held. */
export const renewWork = (db: Queries, claims: readonly WorkClaim[], leaseMs: number): Promise<ReadonlySet<string>> =>
  renewClaims(db, sql`work`, claims, leaseMs);
