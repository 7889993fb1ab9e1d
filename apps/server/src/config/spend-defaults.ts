import type { SpendDefaults, SpendLimit } from '@lodge/domain';
import type { Config } from './config.ts';

export function spendDefaults(config: Config): SpendDefaults {
  const { agentDailyUsd, agentMonthlyUsd, accountDailyUsd, accountMonthlyUsd, spendAction: action } = config;
  const limit = (dailyUsd: string | null, monthlyUsd: string | null): SpendLimit | null =>
    dailyUsd === null && monthlyUsd === null ? null : { dailyUsd, monthlyUsd, action };
  return { agent: limit(agentDailyUsd, agentMonthlyUsd), account: limit(accountDailyUsd, accountMonthlyUsd) };
}
