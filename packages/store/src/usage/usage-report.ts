/**
 * Reads one report in one statement: sums of the coarsest width that fits the buckets, and entries that are not in the sums
 * yet.
 */
import type { UsageFigures, UsageGroup, UsageQuery, UsageReport } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Queries } from '../database/database.ts';
import { amounts, callAmounts, each, machineAmounts, monthEnd, rates, widths } from './usage-columns.ts';

const quarterMs = 900_000;
const dayMs = 86_400_000;

/** Records are checked against the limit before and after they are made, so a grid far beyond it is not made at all. */
const gridFactor = 4;

export async function readReport(db: Queries, query: UsageQuery): Promise<UsageReport | 'too_many'> {
  const { limit, bounds, groupBy } = query;
  if (groupBy === 'agent' && (await countAgents(db, query)) * bounds.length > limit * gridFactor) return 'too_many';
  const { rows } = await reportQuery(query).execute(db);
  const records = rows.filter(({ bucket }) => bucket !== null);
  if (records.length > limit) return 'too_many';
  return {
    records: records.map((row) => ({ bucket: row.bucket! - 1, group: row.group, ...figuresOf(row) })),
    totals: figuresOf(rows.find(({ bucket }) => bucket === null)!),
  };
}

/** Counts the agents that had a machine after the first bound. */
async function countAgents(db: Queries, query: UsageQuery): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct agent_id)::int as count from compute_rates where ${isOf(query)} and ${isAlive(query)}
  `.execute(db);
  return rows[0]!.count;
}

const isOf = ({ accountId, agentId }: UsageQuery): RawBuilder<boolean> =>
  agentId === undefined ? sql`account_id = ${accountId}` : sql`account_id = ${accountId} and agent_id = ${agentId}`;

const isAlive = ({ bounds }: UsageQuery): RawBuilder<boolean> =>
  sql`(disk_gib > 0 or since > ${bounds[0]!}::timestamptz)`;

type Counts = 'requests' | 'unpricedRequests' | 'estimatedRequests' | 'egressBytes';
type Tokens = 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens';
type Times = 'runningMs' | 'pausedMs' | 'stoppedMs' | 'vcpusMs' | 'cpuMs' | 'memoryMibMs' | 'diskGibMs';
type Money = 'llmUsd' | 'computeUsdMs' | 'storageUsdMs' | 'totalUsd';

/** The amounts as text, which a JavaScript number might round. */
type Row = Readonly<Record<Counts | Tokens | Times | Money, string>> & {
  /** Number from 1; null in the row of totals. */
  readonly bucket: number | null;
  readonly group: string | null;
};

const groups: Readonly<Record<UsageGroup, string>> = {
  agent: 'agent_id',
  model: `nullif(provider || '/' || model, '/')`,
  provider: `nullif(provider, '')`,
};

/** Converts US dollars an hour, times milliseconds. */
const usd = (column: string): string => `trim_scale(round(sum(${column}) / 3600000, 12))`;

/**
 * Returns the query. A rate before a bucket is the present one without the steps since. In a bucket it counts for the
 * bucket's time. A step's change counts from the step to the bucket's end, or to now when that is earlier.
 */
export function reportQuery(query: UsageQuery): RawBuilder<Row> {
  const { bounds, groupBy, limit } = query;
  const group = sql.raw(groupBy === null ? 'null::text' : groups[groupBy]);
  const rateGroup = sql.raw(groupBy === 'agent' ? 'agent_id' : 'null::text');
  return sql<Row>`
    with bounds as materialized (
      select i::int as i, starts, least(lead(starts) over (order by i), greatest(starts, now)) as ends
      from unnest(${bounds}::timestamptz[]) with ordinality as given (starts, i), (select clock_timestamp() as now) as clock
    ),
    found as (${sourcesOf(query)}),
    cells as (
      select bounds.i, ${group} as grp,
        ${each(callAmounts, (name) => `sum(${name}) filter (where provider <> '') as ${name}`)},
        ${each([...machineAmounts, ...rates], (name) => `sum(${name}) filter (where provider = '') as ${name}`)},
        ${each(rates, (name) => `sum(${name}_ms + ${name} * (extract(epoch from ends - spans_to) * 1000)) filter (where provider = '') as ${name}_ms`)}
      from found join bounds on bounds.i = width_bucket(found.at, ${bounds}::timestamptz[])
      group by 1, 2
    ),
    present as (
      select ${rateGroup} as grp, ${each(rates, (name) => `sum(${name}) as ${name}`)}
      from compute_rates where ${isOf(query)} and ${isAlive(query)} group by 1
    ),
    grid as (
      select bounds.i, present.grp from bounds, present
      union select bounds.i, null from bounds where ${groupBy !== 'agent'}
      union select cells.i, cells.grp from cells
    ),
    used as (
      select grid.i, grid.grp, ${each(amounts, (name) => `coalesce(cells.${name}, 0) as ${name}`)},
        ${each(
          rates,
          (name) => `greatest(0, coalesce(cells.${name}_ms, 0) + (extract(epoch from ends - starts) * 1000)
          * (coalesce(present.${name}, 0) - coalesce(sum(cells.${name}) over since, 0))) as ${name}_ms`,
        )}
      from grid join bounds on bounds.i = grid.i
      left join cells on cells.i = grid.i and coalesce(cells.grp, '') = coalesce(grid.grp, '')
      left join present on coalesce(present.grp, '') = coalesce(grid.grp, '')
      window since as (partition by grid.grp order by grid.i desc)
    )
    select i as bucket, grp as group, ${each(amounts, (name) => `trim_scale(sum(${name})) as ${name}`)},
      ${each(rates, (name) => (name.endsWith('_usd') ? `${usd(`${name}_ms`)} as ${name}_ms` : `sum(${name}_ms) as ${name}_ms`))},
      trim_scale(sum(llm_usd) + round(sum(compute_usd_ms) / 3600000, 12) + round(sum(storage_usd_ms) / 3600000, 12)) as total_usd
    from used where i < ${bounds.length}
    group by grouping sets ((i, grp), ())
    having grouping(i) = 1 or ${groupBy === null}
      or greatest(${each([...amounts, ...rates.map((name) => `${name}_ms` as const)], (name) => `sum(${name})`)}) > 0
    order by i nulls first, grp nulls first
    limit ${limit + 2}
  `;
}

/** Returns everything in the buckets, and the steps behind them, each once. */
function sourcesOf(query: UsageQuery): RawBuilder<unknown> {
  const { bounds, groupBy, agentId } = query;
  const [first, last] = [bounds[0]!, bounds.at(-1)!];
  const ofAgents = agentId !== undefined || groupBy === 'agent';
  // The sums of an account have no agent.
  const whose = agentId === undefined && ofAgents ? sql`agent_id <> ''` : sql`agent_id = ${agentId ?? ''}`;
  const columns = each([...amounts, ...rates], (name) => name);
  const entries = (where: RawBuilder<boolean>) => sql`
    select agent_id, provider, model, at, at as spans_to, ${columns}, ${each(rates, (name) => `0 as ${name}_ms`)}
    from usage_entries where ${isOf(query)} and ${where}`;
  const sums = (width: keyof typeof widths, from: Date, to: Date | null, kind = sql<boolean>`true`) => sql`
    select agent_id, provider, model, at, ${sql.raw(width === 'month' ? monthEnd('at') : `at + interval '${widths[width]} s'`)},
      ${columns}, ${each(rates, (name) => `${name}_ms`)}
    from usage_sums where account_id = ${query.accountId} and ${whose} and width = ${widths[width]}
      and at >= ${from}::timestamptz and at < ${to ?? 'infinity'}::timestamptz and ${kind}`;
  // Calls with deleted rows count at the beginning of their quarter hour.
  const folded = sql`
    select agent_id, provider, model, at, at as spans_to, ${columns}, ${each(rates, (name) => `0 as ${name}_ms`)}
    from usage_sums where account_id = ${query.accountId} and width = ${widths.quarter}
      and ${agentId === undefined ? sql`agent_id <> ''` : sql`agent_id = ${agentId}`}
      and at >= ${first}::timestamptz and at < ${last}::timestamptz`;
  const steps = sql<boolean>`provider = ''`;
  const quarter = roundUp(last, ofAgents ? dayMs : quarterMs);
  const day = roundUp(last, dayMs);
  const inside = widthOf(bounds, ofAgents);
  const months = inside === 'day' && bounds.length === 2 ? monthsWithin(first, last) : null;
  return sql.join(
    [
      entries(sql`at >= ${first}::timestamptz and not summed`),
      ...(inside === null
        ? [entries(sql`summed and at >= ${first}::timestamptz and at < ${last}::timestamptz`), folded]
        : months === null
          ? [sums(inside, first, last)]
          : [sums('day', first, months.from), sums('month', months.from, months.to), sums('day', months.to, last)]),
      entries(sql`summed and kind = 'step' and at >= ${last}::timestamptz and at < ${quarter}::timestamptz`),
      sums('quarter', quarter, day, steps),
      sums('day', day, null, steps),
    ],
    sql` union all `,
  );
}

/** Returns the widest sums on whose edges all bounds lie; null when there are none. Single agents have none by quarter. */
function widthOf(bounds: readonly Date[], ofAgents: boolean): 'day' | 'quarter' | null {
  const lieOn = (ms: number): boolean => bounds.every((bound) => bound.getTime() % ms === 0);
  if (lieOn(dayMs)) return 'day';
  return !ofAgents && lieOn(quarterMs) ? 'quarter' : null;
}

/** Returns the whole UTC months of a range; null when there is none. */
function monthsWithin(first: Date, last: Date): { readonly from: Date; readonly to: Date } | null {
  const month = (at: Date): number => Date.UTC(at.getUTCFullYear(), at.getUTCMonth());
  const from = new Date(
    first.getTime() === month(first) ? first : Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1),
  );
  const to = new Date(month(last));
  return from < to ? { from, to } : null;
}

const roundUp = (at: Date, ms: number): Date => new Date(Math.ceil(at.getTime() / ms) * ms);

function figuresOf(row: Row): UsageFigures {
  const seconds = (ms: string, of = 1): number => Math.round(Number(ms) / of) / 1000;
  return {
    requests: Number(row.requests),
    unpricedRequests: Number(row.unpricedRequests),
    estimatedRequests: Number(row.estimatedRequests),
    inputTokens: Number(row.inputTokens),
    outputTokens: Number(row.outputTokens),
    cacheReadTokens: Number(row.cacheReadTokens),
    cacheWriteTokens: Number(row.cacheWriteTokens),
    llmUsd: row.llmUsd,
    runningSeconds: seconds(row.runningMs),
    pausedSeconds: seconds(row.pausedMs),
    stoppedSeconds: seconds(row.stoppedMs),
    vcpuSeconds: seconds(row.vcpusMs),
    cpuSeconds: seconds(row.cpuMs),
    memoryGbSeconds: seconds(row.memoryMibMs, 1024),
    storageGbSeconds: seconds(row.diskGibMs),
    egressBytes: Number(row.egressBytes),
    computeUsd: row.computeUsdMs,
    storageUsd: row.storageUsdMs,
    totalUsd: row.totalUsd,
  };
}
