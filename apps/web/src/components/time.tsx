import { formatDate, formatDateTime, formatRelative } from '../format.ts';

/** A moment as a date or as "2 hours ago", with the exact time in the tooltip. */
export function Time({ value, as = 'relative' }: { value: string; as?: 'relative' | 'date' }) {
  const date = new Date(value);
  return (
    <time dateTime={value} title={formatDateTime(date)} className="whitespace-nowrap">
      {as === 'date' ? formatDate(date) : formatRelative(date)}
    </time>
  );
}
