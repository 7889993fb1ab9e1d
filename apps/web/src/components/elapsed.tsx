import { useEffect, useState } from 'react';

/** Seconds before it is shown: what takes less needs no clock. */
const quietSeconds = 5;

/** The time since a moment, as it goes on: "12 s", "1 min 5 s". Screen readers are not told each second. */
export function Elapsed({ since }: { since: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((now - Date.parse(since)) / 1000);
  if (!(seconds >= quietSeconds)) return null;
  const minutes = Math.floor(seconds / 60);
  return (
    <span aria-hidden className="text-sm tabular-nums">
      {minutes > 0 && `${minutes} min `}
      {seconds % 60} s
    </span>
  );
}
