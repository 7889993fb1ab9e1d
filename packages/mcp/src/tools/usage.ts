import type { UsageTotals } from '@lodge/sdk';
import * as z from 'zod';
import { agentId, time, timeZone } from '../inputs.ts';
import { fitting, reads, tool } from '../tool.ts';
import type { Tool } from '../tool.ts';
import { given } from './machine.ts';

const figures = {
  cost_usd: z.string().describe('US dollars, as decimal text.'),
  llm_cost_usd: z.string(),
  llm_requests: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  running_seconds: z.number(),
};

const getUsage = tool({
  name: 'get_usage',
  title: 'Get usage and cost',
  description:
    'Reads what the agents of the account, or one of them, used and what it cost: totals of the range, and a row for each day, agent, model or provider. By default one row for each of the last 30 days.',
  scopes: ['usage:read'],
  annotations: reads,
  doing: 'Reads the usage',
  input: z.strictObject({
    agent_id: agentId.optional(),
    starting_at: time('Beginning of the range.'),
    ending_at: time('End of the range; now by default.'),
    bucket_width: z.enum(['1h', '1d', 'all']).default('1d').describe('all: the whole range as one row.'),
    group_by: z.enum(['agent', 'model', 'provider']).optional().describe('One row for each in each bucket.'),
    time_zone: timeZone,
  }),
  output: z.object({
    starting_at: z.string(),
    ending_at: z.string(),
    totals: z.object(figures),
    rows: z.array(z.object({ starting_at: z.string(), group: z.string().nullable(), ...figures })),
    rows_left_out: z.number().describe('Rows that did not fit: ask for a shorter range or wider buckets.'),
  }),
  run: async ({ agent_id, ...rest }, { lodge, signal }) => {
    const query = given(rest);
    const usage =
      agent_id === undefined
        ? await lodge.usage.get(query, { signal })
        : await lodge.usage.agent(agent_id, query, { signal });
    const rows = usage.data
      .map(({ starting_at, group, ...of }) => ({ starting_at, group, ...shown(of) }))
      .filter(
        (row) => row.group !== null || row.running_seconds > 0 || row.llm_requests > 0 || Number(row.cost_usd) > 0,
      );
    const { items, leftOut } = fitting(rows);
    const { starting_at, ending_at, totals } = usage;
    return { structured: { starting_at, ending_at, totals: shown(totals), rows: items, rows_left_out: leftOut } };
  },
});

function shown({ cost, llm, compute }: Pick<UsageTotals, 'cost' | 'llm' | 'compute'>) {
  return {
    cost_usd: cost.total,
    llm_cost_usd: cost.llm,
    llm_requests: llm.requests,
    input_tokens: llm.input_tokens,
    output_tokens: llm.output_tokens,
    running_seconds: compute.running_seconds,
  };
}

export const usageTools: readonly Tool[] = [getUsage];
