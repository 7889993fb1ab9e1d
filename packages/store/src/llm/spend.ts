/**
 * Spend limits, applied when calls are written. The database itself adds up the amounts spent, with every row of a call
 * (`add_spend`). Calls in progress count by the open calls' estimates. A call is admitted in the transaction that opens it,
 * under a lock of the limited account or agent. Simultaneous calls therefore see each other, and cannot exceed a limit
 * together.
 */
import {
  limitOf,
  nearLimits,
  reachedLimits,
  reachedRefusal,
  refusalOf,
  spendPeriods,
  spendWindow,
} from '@lodge/domain';
import type { SpendDefaults, SpendLimit, SpendStanding } from '@lodge/domain';
import type { AccountSpend, AgentSpend, CallRefusal, NewEvent, OpenCall, SpendStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { appendEvent } from '../events/append.ts';
import { advisoryLockClasses } from '../database/locks.ts';

type Caller = Pick<OpenCall, 'agentId' | 'accountId'>;

/** A limit that applies to a call, with its window. */
interface Applied extends Omit<SpendStanding, 'spentUsd' | 'inFlightUsd'> {
  /** Id of the limited agent or account. */
  readonly id: string;
  readonly accountId: string;
  readonly starts: Date;
}

interface Standing extends Applied, SpendStanding {}

/** A condition: `admitSpend` would have nothing to check. */
export const isUnlimited = ({ agentId }: Caller, { agent, account }: SpendDefaults) =>
  sql<boolean>`${agent === null && account === null} and exists (
    select from agents a join accounts c on c.id = a.account_id
    where a.id = ${agentId} and a.spend_limit is null and c.spend_limit is null
  )`;

/** Asks in the transaction that opens the call whether it may be made (`refusalOf`). Returns null when it may. */
export async function admitSpend(
  trx: Transaction,
  call: OpenCall,
  defaults: SpendDefaults,
): Promise<CallRefusal | null> {
  const { startedAt: at, estimate } = call;
  const applied = await appliedLimits(trx, call, at, defaults, 'locked');
  if (applied.length === 0) return null;
  const standings = await standingsOf(trx, applied, call.id);
  const refusal = refusalOf(standings, estimate.costUsd, at);
  if (reachedLimits(standings).length > 0) await tell(trx, call.agentId, standings);
  return refusal;
}

export const spendIn = (database: Database, defaults: SpendDefaults): SpendStore => ({
  defaults,
  asleep: (agentId, at) => database.repeatable((db) => asleep(db, agentId, at, defaults)),
  async note(call) {
    if (call.costUsd === null) return;
    const applied = await database.repeatable((db) => appliedLimits(db, call, call.startedAt, defaults, 'unlocked'));
    if (applied.length === 0) return;
    await database.transaction(async (trx) => tell(trx, call.agentId, await standingsOf(trx, applied)));
  },
  ofAgent: (agentId, at) => database.repeatable((db) => spendOfAgent(db, agentId, at, defaults)),
  ofAccount: (accountId, at) => database.repeatable((db) => spendOfAccount(db, accountId, at, defaults)),
});

async function asleep(db: Queries, agentId: string, at: Date, defaults: SpendDefaults): Promise<CallRefusal | null> {
  const agent = await db.selectFrom('agents').select('accountId').where('id', '=', agentId).executeTakeFirst();
  if (!agent) return null;
  const applied = await appliedLimits(db, { agentId, ...agent }, at, defaults, 'unlocked');
  const sleeping = applied.filter(({ action }) => action === 'pause');
  return sleeping.length === 0 ? null : reachedRefusal(await standingsOf(db, sleeping), at);
}

async function spendOfAgent(db: Queries, agentId: string, at: Date, defaults: SpendDefaults): Promise<AgentSpend> {
  const { rows } = await sql<{ account: string; day: string; month: string }>`
    select c.account_id as account, ${spentIn('agent', 'day', at)} as day, ${spentIn('agent', 'month', at)} as month
    from agents c where c.id = ${agentId}
  `.execute(db);
  const { account: accountId = '', day = '0', month = '0' } = rows[0] ?? {};
  const applied = await appliedLimits(db, { agentId, accountId }, at, defaults, 'unlocked');
  const limits = applied.length === 0 ? [] : await standingsOf(db, applied);
  return { daySpentUsd: day, monthSpentUsd: month, limits };
}

async function spendOfAccount(
  db: Queries,
  accountId: string,
  at: Date,
  defaults: SpendDefaults,
): Promise<AccountSpend> {
  const { rows } = await sql<{ limit: SpendLimit | null; day: string; month: string }>`
    select c.spend_limit as limit, ${spentIn('account', 'day', at)} as day,
      ${spentIn('account', 'month', at)} as month
    from accounts c where c.id = ${accountId}
  `.execute(db);
  const { limit = null, day = '0', month = '0' } = rows[0] ?? {};
  return { limit: limit ?? defaults.account, daySpentUsd: day, monthSpentUsd: month };
}

/** The amount spent, for the row `c` of accounts or agents. */
const spentIn = (scope: 'account' | 'agent', period: 'day' | 'month', at: Date) => sql<string>`coalesce((
  select trim_scale(round(w.spent_usd, 6))::text from spend_windows w
  where w.scope = ${scope} and w.id = c.id and w.period = ${period} and w.starts = ${spendWindow(period, at).start}
), '0')`;

/**
 * Returns the limits that apply to a call at that time. With `locked`, further admissions of the same limits wait for this
 * transaction.
 */
async function appliedLimits(
  db: Queries,
  { agentId, accountId }: Caller,
  at: Date,
  defaults: SpendDefaults,
  lock: 'locked' | 'unlocked',
): Promise<Applied[]> {
  // One lock is enough, because the lock of a limited account holds back its agents too.
  const locking = sql`case
    when c.spend_limit is not null or ${defaults.account !== null} then ${advisoryLock(sql.ref('c.id'))}
    when a.spend_limit is not null or ${defaults.agent !== null} then ${advisoryLock(sql.ref('a.id'))}
  end`;
  const { rows } = await sql<{ agent: SpendLimit | null; account: SpendLimit | null }>`
    select a.spend_limit as agent, c.spend_limit as account, ${lock === 'locked' ? locking : sql`null`} as lock
    from agents a join accounts c on c.id = a.account_id
    where a.id = ${agentId}
  `.execute(db);
  const { agent = null, account = null } = rows[0] ?? {};
  const owners = [
    { scope: 'agent', id: agentId, limit: agent ?? defaults.agent },
    { scope: 'account', id: accountId, limit: account ?? defaults.account },
  ] as const;
  return owners.flatMap(({ scope, id, limit }) =>
    spendPeriods.flatMap((period) => {
      const limitUsd = limitOf(limit, period);
      if (limit === null || limitUsd === null) return [];
      return [{ scope, id, accountId, period, starts: spendWindow(period, at).start, limitUsd, action: limit.action }];
    }),
  );
}

const advisoryLock = (id: ReturnType<typeof sql.ref>) =>
  sql`pg_advisory_xact_lock(${advisoryLockClasses.spend}::int, hashtext(${id}))::text`;

/**
 * Returns the limits with their amounts and the estimates of the other calls in progress. It is one statement, because
 * between two a call could end and be counted by neither.
 */
async function standingsOf(
  db: Queries,
  applied: readonly Applied[],
  except: string | null = null,
): Promise<Standing[]> {
  const { rows } = await sql<{ spent: string; inFlight: string }>`
    select coalesce(w.spent_usd, 0)::text as spent, coalesce(flight.usd, 0)::text as in_flight
    from ${windows(applied)}
    left join spend_windows w on (w.scope, w.id, w.period, w.starts) = (l.scope, l.id, l.period, l.starts)
    cross join lateral (
      select sum(o.cost_usd) as usd from llm_calls_open o
      where o.account_id = l.account_id and (l.scope = 'account' or o.agent_id = l.id) and o.id is distinct from ${except}
    ) flight
    order by l.n
  `.execute(db);
  return applied.map((limit, n) => ({ ...limit, spentUsd: rows[n]!.spent, inFlightUsd: rows[n]!.inFlight }));
}

/** A table of the windows, in their order (`n`). */
const windows = (applied: readonly Applied[]) => sql`unnest(
  ${applied.map(({ scope }) => scope)}::text[], ${applied.map(({ id }) => id)}::text[],
  ${applied.map(({ accountId }) => accountId)}::text[],
  ${applied.map(({ period }) => period)}::text[], ${applied.map(({ starts }) => starts)}::timestamptz[],
  ${applied.map(({ limitUsd }) => limitUsd)}::numeric[]
) with ordinality as l (scope, id, account_id, period, starts, usd, n)`;

/** Writes once per window and limit that it is nearly or wholly used up. */
async function tell(trx: Transaction, agentId: string, standings: readonly Standing[]): Promise<void> {
  const reached = reachedLimits(standings);
  const near = nearLimits(standings).filter((standing) => !reached.includes(standing));
  const warned = await unnotified(trx, near, 'warned_for');
  const ended = await unnotified(trx, reached, 'reached_for');
  for (const standing of warned) await appendEvent(trx, limitEvent('usage.limit_warning', agentId, standing));
  for (const standing of ended) await appendEvent(trx, limitEvent('usage.limit_reached', agentId, standing));
}

function limitEvent(
  type: 'usage.limit_warning' | 'usage.limit_reached',
  agentId: string,
  { scope, period, limitUsd, spentUsd, action, starts, accountId }: Standing,
): NewEvent {
  const starting_at = starts.toISOString();
  const data = { scope, period, limit_usd: limitUsd, spent_usd: spentUsd, action, starting_at };
  return { type, data, accountId, agentId, by: null };
}

/** Returns and marks the limits without a notice so far. */
async function unnotified(
  trx: Transaction,
  standings: readonly Standing[],
  column: 'warned_for' | 'reached_for',
): Promise<Standing[]> {
  if (standings.length === 0) return [];
  const { rows } = await sql<{ n: number }>`
    update spend_windows w set ${sql.ref(column)} = l.usd from ${windows(standings)}
    where (w.scope, w.id, w.period, w.starts) = (l.scope, l.id, l.period, l.starts)
      and ${sql.ref(`w.${column}`)} is distinct from l.usd
    returning l.n::int as n
  `.execute(trx);
  return rows.map(({ n }) => standings[n - 1]!);
}
