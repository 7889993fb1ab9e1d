/** What usage is made of, as the columns of `usage_entries` and `usage_sums`. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** Used at a moment, by calls. */
export const callAmounts = [
  'requests',
  'unpriced_requests',
  'estimated_requests',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'llm_usd',
] as const;

/** Used until a moment, by machines. */
export const machineAmounts = ['cpu_ms', 'egress_bytes'] as const;

export const amounts = [...callAmounts, ...machineAmounts] as const;

/** Used by machines, by the time that passes; entries hold their changes. */
export const rates = [
  'running',
  'paused',
  'stopped',
  'vcpus',
  'memory_mib',
  'disk_gib',
  'compute_usd',
  'storage_usd',
] as const;

/** Widths of sums, seconds. A month has not always as many: this stands for it. */
export const widths = { quarter: 900, day: 86_400, month: 2_678_400 } as const;

/** The end of the month that begins at `at`, whatever the session's time zone. */
export const monthEnd = (at: string): string => `((${at} at time zone 'UTC' + interval '1 month') at time zone 'UTC')`;

/** One SQL expression for each column, parted by commas. */
export function each<T extends string>(columns: readonly T[], write: (column: T) => string): RawBuilder<unknown> {
  return sql.raw(columns.map(write).join(', '));
}
