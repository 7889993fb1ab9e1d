/** What usage is made of, as the columns of `usage_entries` and `usage_sums`. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** Amounts: used at a moment. */
export const amounts = [
  'requests',
  'unpriced_requests',
  'estimated_requests',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'llm_usd',
  'cpu_ms',
  'egress_bytes',
] as const;

/** Rates: used by the time that passes; entries hold their changes. */
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

/** One SQL expression for each column, parted by commas. */
export function each<T extends string>(columns: readonly T[], write: (column: T) => string): RawBuilder<unknown> {
  return sql.raw(columns.map(write).join(', '));
}
