/**
 * Runs of schedules, as who makes them sees them. A time that has come becomes a row, at once and once, and the schedule waits for
 * its next time in the same transaction. A run that waits is claimed; a claim's number fences what comes of it. A schedule has
 * at most one run that waits or is under way.
 */
import type { RunStatus } from '@lodge/domain';
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

export interface ClaimedRun {
  readonly id: string;
  readonly claim: number;
  /** Claims before this one. */
  readonly attempts: number;
  readonly scheduledFor: Date;
  readonly isManual: boolean;
  readonly schedule: Pick<
    ScheduleRow,
    'id' | 'accountId' | 'agentId' | 'name' | 'timeZone' | 'prompt' | 'conversation' | 'deliver' | 'wake'
  >;
  /** The attempt before began, and what came of it is not known. */
  readonly mayHaveActed: boolean;
}

export type RunClaim = Pick<ClaimedRun, 'id' | 'claim'>;

export interface RunEnd {
  readonly status: RunStatus;
  /** One sentence for the owner; null with `ok`. */
  readonly error: string | null;
  /** The whole answer; null: there is none. */
  readonly answer: string | null;
}

export interface ScheduleRuns {
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
  /**
   * Claims runs that wait, of agents that are on `host` or on none: at most `limit`, one of an agent at a time, longest due first
   * but no account before all others. Those in `except` are this process's own. A claim ends after `leaseMs` unless renewed.
   */
  claim(options: {
    readonly holder: string;
    readonly host: string;
    readonly limit: number;
    readonly leaseMs: number;
    readonly except: readonly string[];
  }): Promise<readonly ClaimedRun[]>;
  /** Gives the ids whose claims hold on. */
  renew(claims: readonly RunClaim[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * Ends the run: what it cost, its answer where it belongs and its event in one transaction. False: the claim was lost, and
   * nothing is written. An answer that its conversation does not take makes it `failed`.
   */
  end(claim: RunClaim, end: RunEnd): Promise<boolean>;
  /** Ends the claim without an end of the run, which waits so long. `mayHaveActed`: the turn had begun. */
  postpone(
    claim: RunClaim,
    wait: { readonly afterMs: number; readonly reason: string; readonly mayHaveActed: boolean },
  ): Promise<boolean>;
  /** Ends runs that nobody began within `maxWaitMs`: they are `missed`. Deletes old runs beyond the bounds, in short steps. */
  tidy(bounds: { readonly maxWaitMs: number; readonly kept: number; readonly maxAgeMs: number }): Promise<void>;
  /** Calls back when there may be something to do. */
  onWork(listener: () => void): () => void;
}
