import { leftUsd, spendWindow } from '@lodge/domain';
import type { Tool } from './deps.ts';

export const usageNow: Tool<'usage_now'> = async ({ spend }, { guest }) => {
  const now = new Date();
  const { daySpentUsd, monthSpentUsd, limits } = await spend.ofAgent(guest.agentId, now);
  return {
    spent_today_usd: daySpentUsd,
    spent_this_month_usd: monthSpentUsd,
    limits: limits.map((limit) => ({
      of: limit.scope,
      period: limit.period,
      limit_usd: limit.limitUsd,
      left_usd: leftUsd(limit),
      resets_at: spendWindow(limit.period, now).end.toISOString(),
    })),
    ...(limits.length === 0 && { note: 'No spend limit holds for you.' }),
  };
};
