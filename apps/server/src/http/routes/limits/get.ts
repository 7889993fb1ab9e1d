import { Limits, NoQuery } from '@lodge/contract';
import { limitOf, spendWindow } from '@lodge/domain';
import type { SpendPeriod } from '@lodge/domain';
import type { SpendStore } from '@lodge/engine/ports';
import type { Static } from 'typebox';
import type { App, HttpContext } from '../../context.ts';
import { mostBodyBytes } from '../../json-body.ts';
import { spendLimitRecord } from '../../spend-limit.ts';

const schema = {
  operationId: 'getLimits',
  tags: ['Service'],
  summary: 'Quotas, rate limits and spend limits',
  description: 'What the account may have and spend, what it has and has spent, and how often a key may ask.',
  querystring: NoQuery,
  response: { 200: { ...Limits, 'x-response-description': 'The limits.' } },
};

const mostFileBytes = 64 * 1024 * 1024;

export function limitsRoute(app: App, { agents, limits }: HttpContext): void {
  if (!limits) return;
  const { rates, quotas, spend } = limits;
  app.route({
    method: 'GET',
    url: '/v1/limits',
    schema,
    handler: async (request) => {
      const { accountId } = request.principal;
      const used = await agents.count(accountId);
      return {
        object: 'limits' as const,
        quotas: {
          agents: { limit: quotas.agents, used: used.all },
          running_agents: { limit: quotas.running, used: used.running },
        },
        rates: {
          reads: { per_minute: rates.reads },
          writes: { per_minute: rates.writes },
          creates: { per_minute: rates.creates, at_once: rates.createsAtOnce },
          calls: { per_minute: rates.calls },
          without_key: { per_minute: rates.address },
        },
        spend: await spendRecord(spend, accountId, new Date()),
        sizes: { json_body_bytes: mostBodyBytes, file_bytes: mostFileBytes },
      };
    },
  });
}

async function spendRecord(spend: SpendStore, accountId: string, now: Date): Promise<Static<typeof Limits>['spend']> {
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
    agent_default: spendLimitRecord(spend.defaults.agent),
  };
}
