/** Reckons the cost of the whole month at the pace of the last days. Days and months are those of UTC, as limits are. */
import type { Usage } from '@lodge/sdk';
import type { PlotPoint } from '../../../components/plot/figures.ts';
import { dayName } from './points.ts';

const dayMs = 86_400_000;
/** Whole days whose average is the pace. */
const paceDays = 7;

export interface Forecast {
  readonly points: readonly PlotPoint[];
  readonly spentUsd: number;
  /** Null while there is no whole day to go by. */
  readonly expected: {
    readonly totalUsd: number;
    readonly perDayUsd: number;
    /** How many whole days the pace is made of. */
    readonly days: number;
    /** The day on which the limit is reached at this pace, as a time; null when it is not. */
    readonly limitAt: number | null;
  } | null;
}

export function forecastOf(usage: Usage, limitUsd: number | null, now = Date.now()): Forecast {
  const today = Math.floor(now / dayMs) * dayMs;
  const month = new Date(now);
  const first = Date.UTC(month.getUTCFullYear(), month.getUTCMonth(), 1);
  const end = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1);
  const byDay = new Map(usage.data.map((bucket) => [Date.parse(bucket.starting_at), Number(bucket.cost.llm)]));
  const perDay = paceOf(byDay, today);
  const days = Array.from({ length: (end - first) / dayMs }, (_, index) => first + index * dayMs);
  const measured = new Map<number, number>();
  let spent = 0;
  for (const day of days.filter((each) => each <= today)) {
    spent += byDay.get(day) ?? 0;
    measured.set(day, spent);
  }
  const expectedAt = (day: number): number => spent + (perDay?.usd ?? 0) * ((day + dayMs - now) / dayMs);
  const points = days.map((day) => ({
    label: dayName(day, 'UTC'),
    values: {
      ...(measured.has(day) && { spent: measured.get(day)! }),
      ...(perDay !== null && day === today && { expected: spent }),
      ...(perDay !== null && day > today && { expected: expectedAt(day) }),
    },
  }));
  const reached = days.find((day) => day >= today && limitUsd !== null && expectedAt(day) >= limitUsd);
  return {
    points,
    spentUsd: spent,
    expected: perDay && {
      totalUsd: expectedAt(end - dayMs),
      perDayUsd: perDay.usd,
      days: perDay.days,
      limitAt: reached ?? null,
    },
  };
}

/** The average of the whole days before today, from the first one on which anything was spent. */
function paceOf(
  byDay: ReadonlyMap<number, number>,
  today: number,
): { readonly usd: number; readonly days: number } | null {
  const whole = Array.from({ length: paceDays }, (_, index) => byDay.get(today - (paceDays - index) * dayMs) ?? 0);
  const begun = whole.findIndex((usd) => usd > 0);
  if (begun === -1) return null;
  const counted = whole.slice(begun);
  return { usd: counted.reduce((sum, usd) => sum + usd, 0) / counted.length, days: counted.length };
}
