import { everyMsOf, nextTime } from '@lodge/domain';
import type { Timing } from '@lodge/domain';
import type { ScheduleRow } from '@lodge/store/schedules';

type Timed = Pick<ScheduleRow, 'cron' | 'every' | 'at' | 'timeZone' | 'anchor'>;

/** When a schedule is due. */
export function timingOf({ cron, every, at, timeZone, anchor }: Timed): Timing {
  if (cron !== null) return { kind: 'cron', cron, timeZone };
  if (at !== null) return { kind: 'at', at };
  return { kind: 'every', everyMs: everyMsOf(every!)!, anchor };
}

/** The next time from now on; null if the schedule is not enabled. */
export const nextRunAt = (settings: Timed & { readonly enabled: boolean }, now: Date): Date | null =>
  settings.enabled ? nextTime(timingOf(settings), now) : null;
