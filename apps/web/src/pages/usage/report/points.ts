/** Makes the points of a plot from the buckets of a report. */
import type { Usage } from '@lodge/sdk';
import type { PlotPoint, PlotSeries } from '../../../components/plot/figures.ts';
import { formatNumber, formatUsd } from '../../../format.ts';
import { timeZone } from './period.ts';
import type { Report } from './queries.ts';
import type { Grouping, Show } from './search.ts';

type Bucket = Usage['data'][number];
type Figures = Pick<Bucket, 'llm' | 'cost'>;

export const tokensOf = ({ llm }: Figures): number =>
  llm.input_tokens + llm.output_tokens + llm.cache_read_tokens + llm.cache_write_tokens;

const valueOf: Readonly<Record<Show, (figures: Figures) => number>> = {
  cost: ({ cost }) => Number(cost.total),
  tokens: tokensOf,
  calls: ({ llm }) => llm.requests,
};

/** The parts of each figure, where it has parts. */
const kinds: Readonly<Record<Show, readonly (PlotSeries & { readonly value: (figures: Figures) => number })[]>> = {
  cost: [
    { key: 'llm', name: 'Model calls', value: ({ cost }) => Number(cost.llm) },
    { key: 'compute', name: 'Machines', value: ({ cost }) => Number(cost.compute) },
    { key: 'storage', name: 'Disks', value: ({ cost }) => Number(cost.storage) },
  ],
  tokens: [
    { key: 'input', name: 'Input', value: ({ llm }) => llm.input_tokens },
    { key: 'output', name: 'Output', value: ({ llm }) => llm.output_tokens },
    { key: 'cache_read', name: 'Read from cache', value: ({ llm }) => llm.cache_read_tokens },
    { key: 'cache_write', name: 'Written to cache', value: ({ llm }) => llm.cache_write_tokens },
  ],
  calls: [{ key: 'calls', name: 'Model calls', value: ({ llm }) => llm.requests }],
};

export const formatOf = (show: Show): ((value: number) => string) =>
  show === 'cost' ? (value) => formatUsd(String(value)) : formatNumber;

const dayNames = new Map<string, Intl.DateTimeFormat>();

/** A day such as "3 Nov", in the zone whose days are meant. */
export function dayName(at: string | number, zone = timeZone): string {
  let format = dayNames.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: zone });
    dayNames.set(zone, format);
  }
  return format.format(new Date(at));
}

interface Plotted {
  readonly series: readonly PlotSeries[];
  readonly points: readonly PlotPoint[];
}

interface Choice {
  readonly by: Grouping;
  readonly show: Show;
  readonly nameOf: (group: string) => string;
}

export function plotOf({ days, groups }: Report, { by, show, nameOf }: Choice): Plotted {
  if (groups === null || by === 'kind') {
    const parts = kinds[show];
    const points = days.data.map((bucket) => ({
      label: dayName(bucket.starting_at),
      values: Object.fromEntries(parts.map(({ key, value }) => [key, value(bucket)])),
    }));
    return withSome({ series: parts, points });
  }
  const byDay = new Map(days.data.map(({ starting_at: at }) => [at, new Map<string, number>()]));
  const keys = new Set<string>();
  for (const bucket of groups.data) {
    const value = valueOf[show](bucket);
    if (value === 0) continue;
    const key = bucket.group ?? noGroup;
    keys.add(key);
    byDay.get(bucket.starting_at)?.set(key, value);
  }
  const series = [...keys].map((key) => ({ key, name: key === noGroup ? 'Machines and disks' : nameOf(key) }));
  const points = [...byDay].map(([at, values]) => ({ label: dayName(at), values: Object.fromEntries(values) }));
  return { series, points };
}

const noGroup = 'machines';

/** Leaves out parts that there is nothing of, such as disks without a price. */
function withSome({ series, points }: Plotted): Plotted {
  return { series: series.filter(({ key }) => points.some(({ values }) => (values[key] ?? 0) > 0)), points };
}
