/** The days that a report is about, as its address says them. */
export const periods = {
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  month: 'This month',
  'last-month': 'Last month',
} as const;
export type Period = keyof typeof periods;

/** The zone whose days are meant: that of whoever looks. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

export interface Range {
  readonly starting_at: string;
  readonly ending_at: string;
}

/** The API widens both ends to whole days. */
export function rangeOf(period: Period, now = new Date()): Range {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const from = (start: Date, end = now): Range => ({
    starting_at: start.toISOString(),
    ending_at: end.toISOString(),
  });
  if (period === 'month') return from(new Date(year, month, 1));
  if (period === 'last-month') return from(new Date(year, month - 1, 1), new Date(year, month, 1));
  return from(new Date(year, month, day - Number.parseInt(period, 10) + 1));
}
