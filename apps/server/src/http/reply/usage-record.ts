import type { Usage, UsageBucket } from '@lodge/contract';
import type { UsageFigures, UsageRecord } from '@lodge/ports';

/** The only place where figures get their form on the wire. */
export function figuresRecord(figures: UsageFigures): Usage['totals'] {
  return {
    compute: {
      running_seconds: figures.runningSeconds,
      paused_seconds: figures.pausedSeconds,
      stopped_seconds: figures.stoppedSeconds,
      vcpu_seconds: figures.vcpuSeconds,
      cpu_seconds: figures.cpuSeconds,
      memory_gb_seconds: figures.memoryGbSeconds,
      storage_gb_seconds: figures.storageGbSeconds,
    },
    llm: {
      requests: figures.requests,
      input_tokens: figures.inputTokens,
      output_tokens: figures.outputTokens,
      cache_read_tokens: figures.cacheReadTokens,
      cache_write_tokens: figures.cacheWriteTokens,
      unpriced_requests: figures.unpricedRequests,
      estimated_requests: figures.estimatedRequests,
    },
    network: { egress_bytes: figures.egressBytes },
    cost: {
      compute: figures.computeUsd,
      llm: figures.llmUsd,
      storage: figures.storageUsd,
      total: figures.totalUsd,
    },
  };
}

export function bucketRecord(record: UsageRecord, bounds: readonly Date[]): UsageBucket {
  const [starting, ending] = [bounds[record.bucket]!, bounds[record.bucket + 1]!];
  const { group } = record;
  return { starting_at: starting.toISOString(), ending_at: ending.toISOString(), group, ...figuresRecord(record) };
}

/** RFC 4180: a line of names (`compute.running_seconds` is `running_seconds`, `cost.llm` is `cost_llm`), then the buckets. */
export function toCsv(buckets: readonly UsageBucket[], totals: Usage['totals']): string {
  const { compute, llm, network, cost } = totals;
  const costNames = Object.keys(cost).map((name) => `cost_${name}`);
  const names = [compute, llm, network].flatMap((part) => Object.keys(part));
  const lines = [['starting_at', 'ending_at', 'group', ...names, ...costNames]].concat(
    buckets.map(({ starting_at, ending_at, group, ...parts }) => [
      starting_at,
      ending_at,
      plain(group ?? ''),
      ...[parts.compute, parts.llm, parts.network, parts.cost].flatMap((part) => Object.values(part).map(String)),
    ]),
  );
  return lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}

/** A guest names its models: spreadsheet programs take a text that begins like this for a formula, unless it is quoted. */
const plain = (group: string): string => (/^[=+\-@\t\r]/.test(group) ? `'${group}` : group);

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
