import { useId } from 'react';
import type { AccountSpend } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { cx } from '../../components/cx.ts';
import { Time } from '../../components/time.tsx';
import { formatUsd } from '../../format.ts';

/** From this percentage on the limit counts as nearly used up. */
const nearPercent = 80;

interface SpendMeterProps {
  readonly label: string;
  readonly window: AccountSpend['daily'];
  /** The form in which its end is shown. */
  readonly ends: 'relative' | 'date';
}

/** Shows the amount spent in a day or month, and its part of the limit, if any. */
export function SpendMeter({ label, window, ends }: SpendMeterProps) {
  const id = useId();
  const { spent_usd: spent, limit_usd: limit, resets_at: resets } = window;
  const percent = limit === null ? null : Math.min(100, (Number(spent) / Number(limit)) * 100);
  return (
    <div className="flex flex-col gap-2 px-5 py-4 sm:px-6">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
        <h3 id={id} className="flex items-center gap-2 font-medium">
          {label}
          {percent === 100 && <Badge tone="bad">Limit reached</Badge>}
          {percent !== null && percent >= nearPercent && percent < 100 && <Badge tone="warning">Nearly reached</Badge>}
        </h3>
        <p className="tabular-nums">
          <span className="font-semibold">{formatUsd(spent)}</span>
          <span className="text-muted">{limit === null ? ' · no limit' : ` of ${formatUsd(limit)}`}</span>
        </p>
      </div>
      {percent !== null && (
        <div
          role="meter"
          aria-labelledby={id}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.floor(percent)}
          aria-valuetext={`${formatUsd(spent)} of ${formatUsd(limit ?? '0')}`}
          className="h-2 overflow-hidden rounded-full border border-control/50 bg-sunken"
        >
          <div
            className={cx('h-full', percent === 100 ? 'bg-danger' : percent >= nearPercent ? 'bg-warn' : 'bg-accent')}
            style={{ width: `${percent}%` }}
          />
        </div>
      )}
      <p className="text-[0.8125rem] text-muted">
        Starts again <Time value={resets} as={ends} />
      </p>
    </div>
  );
}
