/**
 * Spend limits, applied when calls are written. Simultaneous admissions of one limit wait for each other in the database, so
 * that they see each other's estimates and cannot exceed the limit together.
 */
import { appliedLimits, nearLimits, reachedLimits, reachedRefusal, refusalOf } from '@lodge/domain';
import type { AppliedLimit, SpendDefaults, SpendLimit, SpendStanding } from '@lodge/domain';
import type { CallRefusal, LlmCall, OpenCall } from '@lodge/ports';
import type { Database, Queries, Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { lockedLimits, markTold, ownLimits, spentByAccount, spentByAgent, standingsOf } from '@lodge/store/llm';
import type { Caller, OwnLimits } from '@lodge/store/llm';

/** The spending of an account and its limit. */
export interface AccountSpend {
  /** Its own limit, else the deployment's; null when there is none. */
  readonly limit: SpendLimit | null;
  /** Decimal USD of the ended calls in the UTC day and month of the given time. */
  readonly daySpentUsd: string;
  readonly monthSpentUsd: string;
}

/** The spending of an agent and its limits. */
export interface AgentSpend {
  /** Decimal USD of its ended calls in the UTC day and month of the given time. */
  readonly daySpentUsd: string;
  readonly monthSpentUsd: string;
  /** Each limit that applies to it: its own and its account's. */
  readonly limits: readonly SpendStanding[];
}

export type Spend = ReturnType<typeof createSpend>;

export const createSpend = (database: Database, defaults: SpendDefaults) => ({
  defaults,
  /**
   * Returns the reason why no message may wake the agent at that time, because a limit that puts it to sleep is reached. Null
   * when messages may wake it.
   */
  asleep: (agentId: string, at: Date): Promise<CallRefusal | null> =>
    database.repeatable(async (db) => {
      const own = await ownLimits(db, agentId);
      if (own === null) return null;
      const sleeping = appliedLimits(own, defaults, at).filter(({ action }) => action === 'pause');
      if (sleeping.length === 0) return null;
      return reachedRefusal(await standingsOf(db, { agentId, accountId: own.accountId }, sleeping), at);
    }),
  /** Writes to the agent's log, once in each window, that this ended call used up a limit nearly or wholly. */
  async note(call: LlmCall): Promise<void> {
    if (call.costUsd === null) return;
    const limits = await database.repeatable((db) => unlockedLimits(db, call.agentId, defaults, call.startedAt));
    if (limits.length === 0) return;
    await database.transaction(async (trx) => tell(trx, call, await standingsOf(trx, call, limits)));
  },
  ofAgent: (agentId: string, at: Date): Promise<AgentSpend> =>
    database.repeatable(async (db) => {
      const { day, month } = (await spentByAgent(db, agentId, at)) ?? nothingSpent;
      const own = await ownLimits(db, agentId);
      const applied = own === null ? [] : appliedLimits(own, defaults, at);
      const limits = applied.length === 0 ? [] : await standingsOf(db, { agentId, ...own! }, applied);
      return { daySpentUsd: day, monthSpentUsd: month, limits };
    }),
  ofAccount: (accountId: string, at: Date): Promise<AccountSpend> =>
    database.repeatable(async (db) => {
      const { limit, day, month } = (await spentByAccount(db, accountId, at)) ?? nothingSpent;
      return { limit: limit ?? defaults.account, daySpentUsd: day, monthSpentUsd: month };
    }),
});

const nothingSpent = { limit: null, day: '0', month: '0' };

/** Asks in the transaction that opens the call whether it may be made (`refusalOf`). Returns null when it may. */
export async function admitSpend(
  trx: Transaction,
  call: OpenCall,
  defaults: SpendDefaults,
): Promise<CallRefusal | null> {
  const limits = limitsFor(await lockedLimits(trx, call.agentId, defaults), defaults, call.startedAt);
  if (limits.length === 0) return null;
  const standings = await standingsOf(trx, call, limits, call.id);
  if (reachedLimits(standings).length > 0) await tell(trx, call, standings);
  return refusalOf(standings, call.estimate.costUsd, call.startedAt);
}

const unlockedLimits = async (db: Queries, agentId: string, defaults: SpendDefaults, at: Date) =>
  limitsFor(await ownLimits(db, agentId), defaults, at);

/** The deployment's limits hold for an agent that is not found, too. */
const limitsFor = (own: OwnLimits | null, defaults: SpendDefaults, at: Date): AppliedLimit[] =>
  appliedLimits(own ?? { agent: null, account: null }, defaults, at);

/** Writes once per window and limit that it is nearly or wholly used up. */
async function tell(
  trx: Transaction,
  { agentId, accountId }: Caller,
  standings: readonly (AppliedLimit & SpendStanding)[],
): Promise<void> {
  const reached = reachedLimits(standings);
  const near = nearLimits(standings).filter((standing) => !reached.includes(standing));
  const caller = { agentId, accountId };
  const warned = await markTold(trx, caller, near, 'warned_for');
  const ended = await markTold(trx, caller, reached, 'reached_for');
  const write = (type: 'usage.limit_warning' | 'usage.limit_reached', standing: (typeof standings)[number]) =>
    appendEvent(trx, { type, data: dataOf(standing), ...caller, by: null });
  for (const standing of warned) await write('usage.limit_warning', standing);
  for (const standing of ended) await write('usage.limit_reached', standing);
}

const dataOf = ({ scope, period, limitUsd, spentUsd, action, starts }: AppliedLimit & SpendStanding) => ({
  scope,
  period,
  limit_usd: limitUsd,
  spent_usd: spentUsd,
  action,
  starting_at: starts.toISOString(),
});
