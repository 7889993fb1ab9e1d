import { Limits } from '@lodge/contract';
import type { App } from '../../app-types.ts';
import { maxBodyBytes } from '../../pipeline/json-body.ts';
import { spendLimitRecord, spendStanding } from '../../reply/spend-limit.ts';
import type { Agents, Snapshots } from '@lodge/engine';
import type { LimitSettings } from '../../pipeline/limits/limits.ts';

const schema = {
  operationId: 'getLimits',
  tags: ['Service'],
  summary: 'Quotas, rate limits and spend limits',
  description: 'What the account may have and spend, what it has and has spent, and how often a key may ask.',
  response: { 200: { ...Limits, 'x-response-description': 'The limits.' } },
};

const maxFileBytes = 64 * 1024 * 1024;

interface Needs {
  readonly agents: Pick<Agents, 'count'>;
  readonly limits?: LimitSettings;
  readonly snapshots: Pick<Snapshots, 'standing'>;
}

export function limitsRoute(app: App, { agents, limits, snapshots }: Needs): void {
  if (!limits) return;
  const { rates, quotas, spend } = limits;
  app.route({
    method: 'GET',
    url: '/v1/limits',
    schema,
    handler: async (request) => {
      const { accountId, scopes } = request.principal;
      const [used, saved] = await Promise.all([agents.count(accountId), snapshots.standing(accountId)]);
      return {
        object: 'limits' as const,
        quotas: {
          agents: { limit: quotas.agents, used: used.all },
          running_agents: { limit: quotas.running, used: used.running },
        },
        snapshots: {
          per_agent: saved.perAgent,
          limit_gb: saved.gib,
          used_gb: Number(saved.usedGib.toFixed(2)),
        },
        rates: {
          reads: { per_minute: rates.reads },
          writes: { per_minute: rates.writes },
          creates: { per_minute: rates.creates, at_once: rates.createsAtOnce },
          calls: { per_minute: rates.calls },
          without_key: { per_minute: rates.address },
        },
        // Spending belongs to usage.
        spend: scopes.includes('usage:read')
          ? {
              ...(await spendStanding(spend, accountId, new Date())),
              agent_default: spendLimitRecord(spend.defaults.agent),
            }
          : null,
        sizes: { json_body_bytes: maxBodyBytes, file_bytes: maxFileBytes },
      };
    },
  });
}
