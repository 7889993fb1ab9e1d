/** `all` is the whole range as one bucket. */
export const bucketWidths = ['1m', '1h', '1d', 'all'] as const;
export type BucketWidth = (typeof bucketWidths)[number];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The length of a report that names no beginning. */
export const defaultRangeMs: Readonly<Record<BucketWidth, number>> = {
  '1m': hourMs,
  '1h': dayMs,
  '1d': 30 * dayMs,
  all: 30 * dayMs,
};

export interface BucketRange {
  readonly startingAt: Date;
  /** Later than `startingAt`. */
  readonly endingAt: Date;
  readonly width: BucketWidth;
  /** The zone of days. Minutes and hours are UTC's. */
  readonly timeZone: string;
}

/**
 * Returns the rising boundaries of a range's buckets: bucket `i` is from `bounds[i]` to `bounds[i + 1]`. The range is
 * widened to whole minutes, hours or days. Null when there would be more than `most`.
 */
export function bucketBounds({ startingAt, endingAt, width, timeZone }: BucketRange, most: number): Date[] | null {
  const [from, to] = [startingAt.getTime(), endingAt.getTime()];
  if (width === '1m' || width === '1h') {
    const ms = width === '1m' ? minuteMs : hourMs;
    const first = Math.floor(from / ms) * ms;
    const count = Math.ceil((to - first) / ms);
    return count > most ? null : Array.from({ length: count + 1 }, (_, i) => new Date(first + i * ms));
  }
  if (width === '1d' && (to - from) / dayMs > most + 1) return null;
  const localDay = calendarOf(timeZone);
  const first = localDay(from);
  const last = localDay(to - 1) + 1;
  const days = width === 'all' ? [first, last] : Array.from({ length: last - first + 1 }, (_, i) => first + i);
  if (days.length - 1 > most) return null;
  const starts: number[] = [];
  for (const day of days) {
    const start = startOfDay(day, localDay, (starts.at(-1) ?? -Infinity) + dayMs);
    // A day that a country skipped begins with the next one.
    if (start !== starts.at(-1)) starts.push(start);
  }
  return starts.map((start) => new Date(start));
}

/** Returns the calendar day of a moment, counted from 1970-01-01. */
type LocalDay = (at: number) => number;

function calendarOf(timeZone: string): LocalDay {
  if (timeZone === 'UTC') return (at) => Math.floor(at / dayMs);
  const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts['year']!, parts['month']! - 1, parts['day']) / dayMs;
  };
}

/**
 * Returns the first moment of a day, to the second. It is searched for when the guess is wrong. It is therefore also right
 * when clocks are set at midnight and the day begins at one o'clock, and when a country skips a day.
 */
function startOfDay(day: number, localDay: LocalDay, guess: number): number {
  if (guess > 0 && localDay(guess) === day && localDay(guess - 1) < day) return guess;
  // No zone is further from UTC than this.
  let [before, after] = [day * dayMs - 16 * hourMs, day * dayMs + 16 * hourMs];
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000;
    if (localDay(middle) >= day) after = middle;
    else before = middle;
  }
  return after;
}

export function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
