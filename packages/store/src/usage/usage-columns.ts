/** The amounts of usage, as the columns of `usage_entries` and `usage_sums`. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** Amounts that calls use at a moment. */
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

/** Amounts that machines have used up to a moment. */
export const machineAmounts = ['cpu_ms', 'egress_bytes'] as const;

export const amounts = [...callAmounts, ...machineAmounts] as const;

/** Rates at which machines use resources over time; entries hold their changes. */
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

/** Widths of sums in seconds. The length of a month varies, and this value stands for it. */
export const widths = { quarter: 900, day: 86_400, month: 2_678_400 } as const;

/** Returns the end of the month that begins at `at`, whatever the session's time zone. */
export const monthEnd = (at: string): string => `((${at} at time zone 'UTC' + interval '1 month') at time zone 'UTC')`;

/** Returns one SQL expression for each column, with commas between. */
export function each<T extends string>(columns: readonly T[], write: (column: T) => string): RawBuilder<unknown> {
  return sql.raw(columns.map(write).join(', '));
}
