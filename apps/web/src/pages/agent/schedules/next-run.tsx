import type { Schedule } from '@lodge/sdk';
import { formatDateTime, formatRelative } from '../../../format.ts';
import { thereWords } from './times.ts';

/** The next run in the viewer's zone, and in the schedule's where it is another. */
export function NextRun({ schedule }: { readonly schedule: Schedule }) {
  const { next_run_at: next, time_zone: zone, enabled, cron } = schedule;
  if (next === null)
    return <span className="text-muted">{enabled ? 'None: its time has passed' : 'None: it is off'}</span>;
  const there = cron === undefined ? null : thereWords(next, zone);
  return (
    <span className="flex flex-col">
      <time dateTime={next}>
        {formatDateTime(new Date(next))} <span className="text-muted">({formatRelative(new Date(next))})</span>
      </time>
      {there !== null && <span className="text-[0.8125rem] text-muted">{there}</span>}
    </span>
  );
}
