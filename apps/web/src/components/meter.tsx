import { useId } from 'react';
import type { ReactNode } from 'react';
import { Badge } from './badge.tsx';
import { cx } from './cx.ts';

/** From this part on it counts as nearly used up. */
const nearPercent = 80;

interface MeterProps {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  /** The figures in words, as "3 of 10". */
  readonly words: string;
  readonly note?: ReactNode;
  /** The word for a full one. */
  readonly full?: string;
}

/** How much of something is used, as a bar and in words. */
export function Meter({ label, used, limit, words, note, full = 'Used up' }: MeterProps) {
  const id = useId();
  const percent = limit === 0 ? 100 : Math.min(100, (used / limit) * 100);
  const isFull = used >= limit;
  const isNear = !isFull && percent >= nearPercent;
  return (
    <div className="flex flex-col gap-2 px-5 py-4 sm:px-6">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
        <h3 id={id} className="flex items-center gap-2 font-medium">
          {label}
          {isFull && <Badge tone="bad">{full}</Badge>}
          {isNear && <Badge tone="warning">Nearly used up</Badge>}
        </h3>
        <p className="tabular-nums">{words}</p>
      </div>
      <div
        role="meter"
        aria-labelledby={id}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.floor(percent)}
        aria-valuetext={words}
        className="h-2 overflow-hidden rounded-full border border-control/50 bg-sunken"
      >
        <div
          className={cx('h-full', isFull ? 'bg-danger' : isNear ? 'bg-warn' : 'bg-accent')}
          style={{ width: `${percent}%` }}
        />
      </div>
      {note !== undefined && <p className="text-[0.8125rem] text-muted">{note}</p>}
    </div>
  );
}
