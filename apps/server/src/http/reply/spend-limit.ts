/** Spend limits between the wire and the engine. */
import { limitOf, spendWindow } from '@lodge/domain';
import type { AccountSpend, SpendLimit as WireLimit } from '@lodge/contract';
import type { SpendLimit, SpendPeriod } from '@lodge/domain';
import type { Spend } from '@lodge/engine';

export function spendLimitOf(given: WireLimit | null): SpendLimit | null {
  if (given === null) return null;
  const { daily_usd: dailyUsd = null, monthly_usd: monthlyUsd = null, action } = given;
  return { dailyUsd, monthlyUsd, action };
}

export function spendLimitRecord(limit: SpendLimit | null): WireLimit | null {
  return limit && { daily_usd: limit.dailyUsd, monthly_usd: limit.monthlyUsd, action: limit.action };
}

/** The account's spending in the current windows, beside its limit. */
export async function spendStanding(
  spend: Spend,
  accountId: string,
  now: Date,
): Promise<Omit<AccountSpend, 'spend_limit'>> {
  const { limit, daySpentUsd, monthSpentUsd } = await spend.ofAccount(accountId, now);
  const window = (period: SpendPeriod, spentUsd: string) => ({
    limit_usd: limitOf(limit, period),
    spent_usd: spentUsd,
    resets_at: spendWindow(period, now).end.toISOString(),
  });
  return {
    daily: window('day', daySpentUsd),
    monthly: window('month', monthSpentUsd),
    action: limit?.action ?? null,
  };
}
