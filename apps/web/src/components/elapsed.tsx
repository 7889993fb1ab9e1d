import { formatSeconds } from '../format.ts';
import { useNow } from './use-now.ts';

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
