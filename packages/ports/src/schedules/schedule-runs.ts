/**
 * Runs of schedules, as their maker sees them. A time that has come becomes exactly one row, and its schedule moves to the
 * next time in the same transaction. A schedule has at most one run that waits or is in progress.
 */
import type { ClaimedTurn, ClaimedTurns } from '../turns/claimed-turns.ts';
import type { Delivery } from '../channels/delivery.ts';

/** A schedule whose time has come. Exactly one of `cron`, `every` and `at` is not null. */
export interface DueSchedule {
  readonly id: string;
  readonly agentId: string;
  readonly cron: string | null;
  readonly every: string | null;
  readonly at: Date | null;
  readonly timeZone: string;
  /** The time from which intervals are counted. */
  readonly anchor: Date;
  readonly due: Date;
}

export interface FiringPlan {
  readonly scheduledFor: Date;
  readonly missedFrom: Date | null;
  readonly next: Date | null;
  /** Delay of the run, in ms. */
  readonly jitterMs: number;
}

export interface ReplannedTime {
  readonly anchor: Date;
  readonly next: Date | null;
}

export interface ClaimedRun extends ClaimedTurn {
  readonly scheduledFor: Date;
  readonly isManual: boolean;
  readonly schedule: {
    readonly id: string;
    readonly accountId: string;
    readonly agentId: string;
    readonly name: string;
    readonly timeZone: string;
    readonly prompt: string;
    readonly conversation: string | null;
    readonly deliver: Delivery;
    readonly wake: boolean;
  };
}

/** A run that nobody began in time is `missed`. */
export interface ScheduleRuns extends ClaimedTurns<ClaimedRun> {
  /**
   * Makes runs of at most `limit` due schedules and returns their number. `plan` decides about each, with the database's
   * time and the number of agents that have one due or delayed. It may be called twice. A time that comes before the last
   * run is over is `skipped`.
   */
  fire(limit: number, plan: (due: DueSchedule, now: Date, agents: number) => FiringPlan): Promise<number>;
  /**
   * Replans schedules that were planned at a time still ahead of the database's clock, because the clock went back. `plan`
   * returns their new times; `taken` holds times that have a run, in milliseconds. Returns their number.
   */
  replan(plan: (due: DueSchedule, now: Date, taken: ReadonlySet<number>) => ReplannedTime): Promise<number>;
}
