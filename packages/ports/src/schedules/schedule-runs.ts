/**
 * Runs of schedules, as who makes them sees them. A time that has come becomes a row, at once and once, and the schedule waits for
 * its next time in the same transaction. A schedule has at most one run that waits or is under way.
 */
import type { ClaimedTurn, ClaimedTurns } from '../turns/claimed-turns.ts';
import type { ScheduleRow } from './schedule-store.ts';

/** A schedule whose time has come. */
export interface DueSchedule extends Pick<
  ScheduleRow,
  'id' | 'agentId' | 'cron' | 'every' | 'at' | 'timeZone' | 'anchor'
> {
  readonly due: Date;
}

export interface FiringPlan {
  readonly scheduledFor: Date;
  readonly missedFrom: Date | null;
  readonly next: Date | null;
  /** How long the run is put off. */
  readonly jitterMs: number;
}

export interface ReplannedTime {
  readonly anchor: Date;
  readonly next: Date | null;
}

export interface ClaimedRun extends ClaimedTurn {
  readonly scheduledFor: Date;
  readonly isManual: boolean;
  readonly schedule: Pick<
    ScheduleRow,
    'id' | 'accountId' | 'agentId' | 'name' | 'timeZone' | 'prompt' | 'conversation' | 'deliver' | 'wake'
  >;
}

/** A run that nobody began in time is `missed`. */
export interface ScheduleRuns extends ClaimedTurns<ClaimedRun> {
  /**
   * Makes runs of at most `limit` schedules whose time has come; gives how many. `plan` decides of each, with the database's time
   * and the number of agents that have one due or put off; it may be called twice. A time that comes while the run before is not
   * over is `skipped`.
   */
  fire(limit: number, plan: (due: DueSchedule, now: Date, agents: number) => FiringPlan): Promise<number>;
  /**
   * Looks for schedules that were planned at a time which the database's clock has yet to come to: it went back. `plan` gives what they
   * wait for instead; `taken` are times that have a run, in milliseconds.
   */
  replan(plan: (due: DueSchedule, now: Date, taken: ReadonlySet<number>) => ReplannedTime): Promise<number>;
}
