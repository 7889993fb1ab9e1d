import { queryOptions } from '@tanstack/react-query';
import type { Usage } from '@lodge/sdk';
import { lodge, read } from '../../../api.ts';
import { rangeOf, timeZone } from './period.ts';
import type { Period } from './period.ts';
import type { Grouping } from './search.ts';

/** The owner of the usage: all agents of the account, or one. */
export type Whose = { readonly agentId: string } | 'account';

type UsageQuery = NonNullable<Parameters<typeof lodge.usage.get>[0]>;

const ask = (whose: Whose, query: UsageQuery & { readonly format?: 'json' }): Promise<Usage> =>
  read(whose === 'account' ? lodge.usage.get(query) : lodge.usage.agent(whose.agentId, query));

const keyOf = (whose: Whose) =>
  whose === 'account' ? (['usage'] as const) : (['agent', whose.agentId, 'usage'] as const);

export interface Report {
  /** A bucket for every day. */
  readonly days: Usage;
  /** Buckets by day and group; null where a day's kinds are asked for, which each bucket has. */
  readonly groups: Usage | null;
}

const groupOf = (by: Grouping): 'agent' | 'model' | 'provider' | undefined => (by === 'kind' ? undefined : by);

export const reportQuery = (whose: Whose, period: Period, by: Grouping) =>
  queryOptions({
    queryKey: [...keyOf(whose), period, by],
    queryFn: async (): Promise<Report> => {
      const query = { ...rangeOf(period), bucket_width: '1d', time_zone: timeZone } as const;
      const group = groupOf(by);
      const [days, groups] = await Promise.all([
        ask(whose, query),
        group === undefined ? null : ask(whose, { ...query, group_by: group }),
      ]);
      return { days, groups };
    },
    // The plot stays while another choice is loaded.
    placeholderData: (before) => before,
  });

/** The same records as text. */
export const reportCsv = (whose: Whose, period: Period, by: Grouping): Promise<string> => {
  const group = groupOf(by);
  const query = {
    ...rangeOf(period),
    bucket_width: '1d',
    time_zone: timeZone,
    format: 'csv',
    ...(group !== undefined && { group_by: group }),
  } as const;
  return read(whose === 'account' ? lodge.usage.get(query) : lodge.usage.agent(whose.agentId, query));
};

const dayMs = 86_400_000;

/** The days of this month and the week before today. They are those of UTC, because spend limits go by it. */
export const monthQuery = (whose: Whose) =>
  queryOptions({
    queryKey: [...keyOf(whose), 'forecast'],
    queryFn: () => {
      const now = new Date();
      const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
      const start = new Date(Math.min(first, now.getTime() - 7 * dayMs));
      return ask(whose, { starting_at: start.toISOString(), bucket_width: '1d', time_zone: 'UTC' });
    },
  });

/** The names of agents, by id. A deleted one has none any more. */
export const agentNamesQuery = queryOptions({
  queryKey: ['agents', 'names'],
  queryFn: async (): Promise<ReadonlyMap<string, string>> => {
    const names = new Map<string, string>();
    await read(
      (async () => {
        for await (const { id, name } of lodge.agents.list({ limit: 100 })) {
          names.set(id, name);
          if (names.size >= 1000) break;
        }
      })(),
    );
    return names;
  },
});
