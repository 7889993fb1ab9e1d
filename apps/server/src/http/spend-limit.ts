/** Spend limits between the wire and the engine. */
import type { SpendLimit as WireLimit } from '@lodge/contract';
import type { SpendLimit } from '@lodge/domain';
import { ApiError } from './errors.ts';

export function spendLimitOf(given: WireLimit | null): SpendLimit | null {
  if (given === null) return null;
  const { daily_usd: dailyUsd = null, monthly_usd: monthlyUsd = null, action } = given;
  if (dailyUsd !== null || monthlyUsd !== null) return { dailyUsd, monthlyUsd, action };
  throw new ApiError('invalid_request', 'spend_limit needs daily_usd or monthly_usd; null removes the limit.');
}

export function spendLimitRecord(limit: SpendLimit | null): WireLimit | null {
  return limit && { daily_usd: limit.dailyUsd, monthly_usd: limit.monthlyUsd, action: limit.action };
}
