/**
 * Amounts spent and limits. The database itself adds up the amounts, with every row of a call (`add_spend`). Calls in progress
 * count by the open calls' estimates. The engine decides by these (`packages/engine/src/spend`).
 */
import { spendWindow } from '@lodge/domain';
import type { AppliedLimit, SpendDefaults, SpendLimit, SpendLimits, SpendPeriod, SpendStanding } from '@lodge/domain';
import type { OpenCall } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { advisoryLockClasses } from '../database/locks.ts';

/** The agent that calls, and its account. */
export type Caller = Pick<OpenCall, 'agentId' | 'accountId'>;

/** A condition: no limit applies to the caller. */
export const isUnlimited = ({ agentId }: Caller, { agent, account }: SpendDefaults) =>
  sql<boolean>`${agent === null && account === null} and exists (
    select from agents a join accounts c on c.id = a.account_id
    where a.id = ${agentId} and a.spend_limit is null and c.spend_limit is null
  )`;

/** Decimal USD of ended calls in the UTC day and month of a time. */
export interface SpentAmounts {
  readonly day: string;
  readonly month: string;
}

export async function spentByAgent(db: Queries, agentId: string, at: Date): Promise<SpentAmounts | null> {
  const { rows } = await sql<SpentAmounts>`
    select ${spentIn('agent', 'day', at)} as day, ${spentIn('agent', 'month', at)} as month
    from agents c where c.id = ${agentId}
  `.execute(db);
  return rows[0] ?? null;
}

/** The amounts beside the account's own limit. */
export async function spentByAccount(
  db: Queries,
  accountId: string,
  at: Date,
): Promise<(SpentAmounts & { readonly limit: SpendLimit | null }) | null> {
  const { rows } = await sql<SpentAmounts & { limit: SpendLimit | null }>`
    select c.spend_limit as limit, ${spentIn('account', 'day', at)} as day,
      ${spentIn('account', 'month', at)} as month
    from accounts c where c.id = ${accountId}
  `.execute(db);
  return rows[0] ?? null;
}

/** The amount spent, for the row `c` of accounts or agents. */
const spentIn = (scope: 'account' | 'agent', period: SpendPeriod, at: Date) => sql<string>`coalesce((
  select trim_scale(round(w.spent_usd, 6))::text from spend_windows w
  where w.scope = ${scope} and w.id = c.id and w.period = ${period} and w.starts = ${spendWindow(period, at).start}
), '0')`;

/** The own limits of an agent and its account. Null when there is no such agent. */
export type OwnLimits = SpendLimits & { readonly accountId: string };

export const ownLimits = (db: Queries, agentId: string): Promise<OwnLimits | null> =>
  selectLimits(db, agentId, sql`null`);

/** The same. Further transactions that lock the same limits wait for this one. `defaults` say which limits there are besides. */
export function lockedLimits(trx: Transaction, agentId: string, defaults: SpendDefaults): Promise<OwnLimits | null> {
  // One lock is enough, because the lock of a limited account holds back its agents too.
  const lock = sql`case
    when c.spend_limit is not null or ${defaults.account !== null} then ${advisoryLock(sql.ref('c.id'))}
    when a.spend_limit is not null or ${defaults.agent !== null} then ${advisoryLock(sql.ref('a.id'))}
  end`;
  return selectLimits(trx, agentId, lock);
}

async function selectLimits(db: Queries, agentId: string, lock: RawBuilder<unknown>): Promise<OwnLimits | null> {
  const { rows } = await sql<OwnLimits>`
    select a.account_id, a.spend_limit as agent, c.spend_limit as account, ${lock} as lock
    from agents a join accounts c on c.id = a.account_id
    where a.id = ${agentId}
  `.execute(db);
  return rows[0] ?? null;
}

const advisoryLock = (id: ReturnType<typeof sql.ref>) =>
  sql`pg_advisory_xact_lock(${advisoryLockClasses.spend}::int, hashtext(${id}))::text`;

/**
 * Returns the caller's limits with their amounts and the estimates of the calls in progress, without the call `except`. It is
 * one statement, because between two a call could end and be counted by neither.
 */
export async function standingsOf<Limit extends AppliedLimit>(
  db: Queries,
  caller: Caller,
  limits: readonly Limit[],
  except: string | null = null,
): Promise<(Limit & SpendStanding)[]> {
  const { rows } = await sql<{ spent: string; inFlight: string }>`
    select coalesce(w.spent_usd, 0)::text as spent, coalesce(flight.usd, 0)::text as in_flight
    from ${windows(caller, limits)}
    left join spend_windows w on (w.scope, w.id, w.period, w.starts) = (l.scope, l.id, l.period, l.starts)
    cross join lateral (
      select sum(o.cost_usd) as usd from llm_calls_open o
      where o.account_id = ${caller.accountId} and (l.scope = 'account' or o.agent_id = l.id)
        and o.id is distinct from ${except}
    ) flight
    order by l.n
  `.execute(db);
  return limits.map((limit, n) => ({ ...limit, spentUsd: rows[n]!.spent, inFlightUsd: rows[n]!.inFlight }));
}

/** A table of the limits' windows, in their order (`n`). */
const windows = ({ agentId, accountId }: Caller, limits: readonly AppliedLimit[]) => sql`unnest(
  ${limits.map(({ scope }) => scope)}::text[],
  ${limits.map(({ scope }) => (scope === 'agent' ? agentId : accountId))}::text[],
  ${limits.map(({ period }) => period)}::text[], ${limits.map(({ starts }) => starts)}::timestamptz[],
  ${limits.map(({ limitUsd }) => limitUsd)}::numeric[]
) with ordinality as l (scope, id, period, starts, usd, n)`;

/** Marks the limits as told of in their windows, and returns those that were not marked for this amount before. */
export async function markTold<Limit extends AppliedLimit>(
  trx: Transaction,
  caller: Caller,
  limits: readonly Limit[],
  column: 'warned_for' | 'reached_for',
): Promise<Limit[]> {
  if (limits.length === 0) return [];
  const { rows } = await sql<{ n: number }>`
    update spend_windows w set ${sql.ref(column)} = l.usd from ${windows(caller, limits)}
    where (w.scope, w.id, w.period, w.starts) = (l.scope, l.id, l.period, l.starts)
      and ${sql.ref(`w.${column}`)} is distinct from l.usd
    returning l.n::int as n
  `.execute(trx);
  return rows.map(({ n }) => limits[n - 1]!);
}
