import { everyMsOf, firingOf, jitterMs, nextTime, timeAgain } from '@lodge/domain';
import type { Timing } from '@lodge/domain';
import type { DueSchedule, FiringPlan, ReplannedTime } from '@lodge/ports';
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

export const planFiring = (due: DueSchedule, now: Date, agents: number): FiringPlan => ({
  ...firingOf(timingOf(due), due.due, now),
  jitterMs: jitterMs(due.agentId, agents),
});

export const planAgain = (due: DueSchedule, now: Date, taken: ReadonlySet<number>): ReplannedTime => ({
  anchor: due.every === null ? due.anchor : now,
  next: timeAgain(timingOf(due), now, taken),
});
