import { Usage } from '@lodge/contract';
import type { UsageBucket } from '@lodge/contract';
import type { UsageFigures, UsageRecord } from '@lodge/ports';
import { toWire } from './to-wire.ts';

const { compute, llm, network } = Usage.properties.totals.properties;

/** The only place where figures get their form on the wire. */
export function figuresRecord(figures: UsageFigures): Usage['totals'] {
  return {
    compute: toWire(compute, figures),
    llm: toWire(llm, figures),
    network: toWire(network, figures),
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
