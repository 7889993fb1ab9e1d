import { formatDate, formatDateTime, formatRelative, formatSeconds } from '../format.ts';
import { useEffect, useState } from 'react';

/** A moment as a date or as "2 hours ago", with the exact time in the tooltip. */
export function Time({ value, as = 'relative' }: { value: string; as?: 'relative' | 'date' }) {
  const date = new Date(value);
  return (
    <time dateTime={value} title={formatDateTime(date)} className="whitespace-nowrap">
      {as === 'date' ? formatDate(date) : formatRelative(date)}
    </time>
  );
}

/** The time in milliseconds, anew each second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Seconds before it is shown: what takes less needs no clock. */
const quietSeconds = 5;

/** The time since a moment, as it goes on. Screen readers are not told each second. */
export function Elapsed({ since }: { since: string }) {
  const seconds = Math.floor((useNow() - Date.parse(since)) / 1000);
  if (!(seconds >= quietSeconds)) return null;
  return (
    <span aria-hidden className="text-sm tabular-nums">
      {formatSeconds(seconds)}
    </span>
  );
}
