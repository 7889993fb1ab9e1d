/** For the property test of reports: histories of agents, and their usage added up row by row. */
import type { Random } from '@lodge/domain/testing';
import type { UsageFigures, UsageGroup, UsageRecord } from '@lodge/ports';
import { rates } from '../usage/usage-columns.ts';

type Rates = Record<(typeof rates)[number], number>;

interface Call {
  readonly id: string;
  readonly agent_id: string;
  readonly started_at: Date;
  readonly provider: string;
  readonly model: string;
  readonly outcome: 'ok' | 'refused' | 'cancelled';
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly cost_usd: string | null;
}

/** Rates are whole numbers, money too, so a JavaScript number adds them up exactly. */
type Step = Rates & { readonly agent_id: string; readonly at: Date };

interface Reading {
  readonly agent_id: string;
  readonly at: Date;
  readonly cpu_ms: number;
  readonly egress_bytes: number;
}

export interface History {
  readonly from: number;
  readonly to: number;
  readonly agents: readonly string[];
  readonly calls: Call[];
  readonly steps: readonly Step[];
  readonly readings: readonly Reading[];
}

const from = Date.UTC(2026, 2, 28);
const to = Date.UTC(2026, 3, 2);
const still: Rates = {
  running: 0,
  paused: 0,
  stopped: 0,
  vcpus: 0,
  memory_mib: 0,
  disk_gib: 0,
  compute_usd: 0,
  storage_usd: 0,
};
let made = 0;

/** Makes some days of some agents, all deleted in the end. */
export function makeHistory(
  pick: Random,
  agents: readonly string[] = Array.from({ length: 1 + pick(4) }, newId),
): History {
  /** Returns a moment, often on an edge of some bucket. */
  const moment = (): number => {
    const at = from + pick(to - from);
    return pick(3) === 0 ? Math.floor(at / 900_000) * 900_000 : at;
  };
  const agent = (): string => agents[pick(agents.length)]!;
  const tokens = (): number | null => (pick(5) === 0 ? null : pick(100_000));
  const calls = Array.from({ length: pick(300) }, (): Call => ({
    id: `call${(made += 1)}`,
    agent_id: agent(),
    started_at: new Date(moment()),
    provider: ['openai', 'anthropic'][pick(2)]!,
    model: ['m1', 'm2', 'a/m1'][pick(3)]!,
    outcome: (['ok', 'ok', 'cancelled', 'refused'] as const)[pick(4)]!,
    input_tokens: tokens(),
    output_tokens: tokens(),
    cache_read_tokens: tokens(),
    cache_write_tokens: tokens(),
    cost_usd: pick(4) === 0 ? null : `0.${String(pick(1e9)).padStart(9, '0')}`,
  }));
  const readings = Array.from({ length: pick(100) }, (): Reading => ({
    agent_id: agent(),
    at: new Date(moment()),
    cpu_ms: pick(60_000),
    egress_bytes: pick(1e9),
  }));
  const steps = agents.flatMap((id) =>
    stepsOf(
      id,
      Array.from({ length: pick(60) }, moment).toSorted((a, b) => a - b),
      pick,
    ),
  );
  return { from, to, agents, calls, steps, readings };
}

const newId = (): string => `h${String((made += 1)).padStart(11, '0')}`;

function stepsOf(agentId: string, moments: readonly number[], pick: Random): Step[] {
  let now = still;
  return moments.map((at, index) => {
    const next = index === moments.length - 1 ? still : stateOf(pick);
    const step = Object.fromEntries(rates.map((name) => [name, next[name] - now[name]])) as Rates;
    now = next;
    return { agent_id: agentId, at: new Date(at), ...step };
  });
}

function stateOf(pick: Random): Rates {
  const status = (['running', 'paused', 'stopped', 'error'] as const)[pick(4)]!;
  const runs = status === 'running';
  return {
    ...still,
    ...(status !== 'error' && { [status]: 1 }),
    vcpus: runs ? 1 + pick(4) : 0,
    memory_mib: runs || status === 'paused' ? 1024 * (1 + pick(16)) : 0,
    disk_gib: 1 + pick(40) / 2,
    compute_usd: runs ? pick(50) : 0,
    storage_usd: pick(3),
  };
}

interface Asked {
  readonly bounds: readonly Date[];
  readonly groupBy: UsageGroup | null;
  readonly agentId: string | null;
}

/** Sums of one record; money of calls in 1e-9 dollars, of machines in dollars an hour times milliseconds. */
type Sums = Record<string, number>;

export function addUp(
  history: History,
  { bounds, groupBy, agentId }: Asked,
): { records: UsageRecord[]; totals: UsageFigures } {
  const edges = bounds.map((bound) => bound.getTime());
  const cells = new Map<string, Sums>();
  const totals: Sums = {};
  const add = (bucket: number, group: string | null, name: string, amount: number): void => {
    const key = JSON.stringify([bucket, group]);
    const cell = cells.get(key) ?? {};
    cells.set(key, cell);
    for (const sums of [cell, totals]) sums[name] = (sums[name] ?? 0) + amount;
  };
  const bucketOf = (at: Date): number => edges.findLastIndex((edge) => edge <= at.getTime());
  const isIn = (at: Date): boolean => at.getTime() >= edges[0]! && at.getTime() < edges.at(-1)!;
  const isOf = (row: { agent_id: string }): boolean => agentId === null || row.agent_id === agentId;
  for (const call of history.calls.filter(isOf)) {
    if (!isIn(call.started_at)) continue;
    const groups = { agent: call.agent_id, model: `${call.provider}/${call.model}`, provider: call.provider };
    const known = call.input_tokens ?? call.output_tokens;
    const figures = {
      requests: call.outcome === 'refused' ? 0 : 1,
      unpriced: call.cost_usd === null && known !== null ? 1 : 0,
      input: call.input_tokens ?? 0,
      output: call.output_tokens ?? 0,
      read: call.cache_read_tokens ?? 0,
      write: call.cache_write_tokens ?? 0,
      llm: Number((call.cost_usd ?? '0').replace('0.', '')),
    };
    for (const [name, amount] of Object.entries(figures)) {
      add(bucketOf(call.started_at), groupBy && groups[groupBy], name, amount);
    }
  }
  for (const reading of history.readings.filter(isOf)) {
    if (!isIn(reading.at)) continue;
    for (const name of ['cpu_ms', 'egress_bytes'] as const) {
      add(bucketOf(reading.at), groupBy === 'agent' ? reading.agent_id : null, name, reading[name]);
    }
  }
  for (const id of history.agents.filter((id) => agentId === null || id === agentId)) {
    const steps = history.steps.filter((step) => step.agent_id === id);
    let state = still;
    for (const [index, step] of steps.entries()) {
      state = Object.fromEntries(rates.map((name) => [name, state[name] + step[name]])) as Rates;
      const end = steps[index + 1]?.at.getTime() ?? Infinity;
      for (let bucket = 0; bucket < edges.length - 1; bucket += 1) {
        const ms = Math.min(end, edges[bucket + 1]!) - Math.max(step.at.getTime(), edges[bucket]!);
        if (ms <= 0) continue;
        for (const name of rates) add(bucket, groupBy === 'agent' ? id : null, name, state[name] * ms);
      }
    }
  }
  return { records: recordsOf(cells, groupBy, edges.length - 1), totals: figuresOf(totals) };
}

function recordsOf(cells: ReadonlyMap<string, Sums>, groupBy: UsageGroup | null, buckets: number): UsageRecord[] {
  const records = [...cells]
    .filter(([, sums]) => groupBy === null || Object.values(sums).some((amount) => amount > 0))
    .map(([key, sums]) => {
      const [bucket, group] = JSON.parse(key) as [number, string | null];
      return { bucket, group, ...figuresOf(sums) };
    });
  const known = groupBy === null ? Array.from({ length: buckets }, (_, bucket) => bucket) : [];
  for (const bucket of known) {
    if (!records.some((record) => record.bucket === bucket)) records.push({ bucket, group: null, ...figuresOf({}) });
  }
  return records.toSorted((a, b) => a.bucket - b.bucket || Number(a.group! > b.group!) || -1);
}

function figuresOf(sums: Sums): UsageFigures {
  const of = (name: string): number => sums[name] ?? 0;
  const seconds = (ms: number): number => Math.round(ms) / 1000;
  /** Trillionths of a dollar. */
  const compute = rounded(of('compute_usd'));
  const storage = rounded(of('storage_usd'));
  const llm = BigInt(of('llm')) * 1000n;
  return {
    requests: of('requests'),
    unpricedRequests: of('unpriced'),
    estimatedRequests: 0,
    inputTokens: of('input'),
    outputTokens: of('output'),
    cacheReadTokens: of('read'),
    cacheWriteTokens: of('write'),
    llmUsd: decimal(llm),
    runningSeconds: seconds(of('running')),
    pausedSeconds: seconds(of('paused')),
    stoppedSeconds: seconds(of('stopped')),
    vcpuSeconds: seconds(of('vcpus')),
    cpuSeconds: seconds(of('cpu_ms')),
    memoryGbSeconds: seconds(of('memory_mib') / 1024),
    storageGbSeconds: seconds(of('disk_gib')),
    egressBytes: of('egress_bytes'),
    computeUsd: decimal(compute),
    storageUsd: decimal(storage),
    totalUsd: decimal(llm + compute + storage),
  };
}

/** Dollars an hour times milliseconds, in trillionths of a dollar, rounded half up. */
const rounded = (usdMs: number): bigint => (BigInt(usdMs) * 10n ** 12n * 2n + 3_600_000n) / 7_200_000n;

function decimal(trillionths: bigint): string {
  const digits = String(trillionths).padStart(13, '0');
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '') || '0';
}
