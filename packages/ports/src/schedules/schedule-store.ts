import type { RunStatus } from '@lodge/domain';
import type { Unsayable } from '../channels/channel-store.ts';
import type { Delivery } from '../channels/delivery.ts';
import type { ActorNote } from '../events/change-note.ts';

/** The settings of a schedule's owner. Exactly one of `cron`, `every` and `at` is not null. */
export interface ScheduleSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly cron: string | null;
  /** The interval as the owner wrote it, such as `15m`. */
  readonly every: string | null;
  readonly at: Date | null;
  readonly timeZone: string;
  readonly prompt: string;
  /** The agent's conversation; null for one of the schedule's own. */
  readonly conversation: string | null;
  /** The destination of its runs' answers. */
  readonly deliver: Delivery;
  /** False leaves a sleeping agent asleep and skips the time. */
  readonly wake: boolean;
}

export interface ScheduleRow extends ScheduleSettings {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  /** The time from which intervals are counted. */
  readonly anchor: Date;
  /** Null when it is not enabled, or its time has passed. */
  readonly nextRunAt: Date | null;
  /** The newest run that is not `missed`, or null. */
  readonly lastRun: ScheduleRun | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ScheduleRun {
  readonly id: string;
  readonly scheduleId: string;
  readonly scheduledFor: Date;
  /** Whether a person requested the run. */
  readonly isManual: boolean;
  /** Null when it was not begun. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** Null while it waits or is in progress. */
  readonly status: RunStatus | null;
  /** Number of times its turn was begun. */
  readonly attempts: number;
  /** Decimal USD of the agent's model calls during the run; null when none had a known price. */
  readonly cost: string | null;
  readonly answerPreview: string | null;
  /** The reason why it is not `ok`, or the failure of the last attempt while another is to come. */
  readonly error: string | null;
}

export interface SchedulePlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly scheduleId: string;
}

/** Settings with the times that follow from them. */
export interface PlannedSettings extends ScheduleSettings {
  readonly anchor: Date;
  readonly nextRunAt: Date | null;
}

export interface ScheduleStore {
  /** Returns the agent's schedules, oldest first. */
  list(accountId: string, agentId: string): Promise<readonly ScheduleRow[]>;
  find(place: SchedulePlace): Promise<ScheduleRow | null>;
  /**
   * Creates a schedule with this id. `plan` receives the database's time and may be called twice. Returns `full` when the
   * agent has `most` other schedules, `no_agent` when the account has no such agent, and `no_conversation` or `not_allowed`
   * when answers could not be delivered. Nothing is written then.
   */
  create(
    place: SchedulePlace,
    plan: (now: Date) => PlannedSettings,
    most: number,
    note?: ActorNote,
  ): Promise<ScheduleRow | 'full' | 'no_agent' | Unsayable>;
  /**
   * Changes a schedule; null when there is none. Disabling it removes its waiting run. An unchanged delivery is not checked
   * again.
   */
  update(
    place: SchedulePlace,
    plan: (row: ScheduleRow, now: Date) => PlannedSettings,
    note?: ActorNote,
  ): Promise<ScheduleRow | Unsayable | null>;
  /** Removes a schedule with its runs and ends one in progress. False when there is none. */
  remove(place: SchedulePlace, note?: ActorNote): Promise<boolean>;
  /**
   * Requests a run of this id that is due at once, enabled or not. `running` means that one waits or is in progress, and
   * null that there is no such schedule.
   */
  ask(place: SchedulePlace, runId: string, note?: ActorNote): Promise<ScheduleRun | 'running' | null>;
  /** Returns runs newest first, before the run of the given id. */
  runs(
    place: SchedulePlace,
    page: { readonly before?: string; readonly limit: number },
  ): Promise<readonly ScheduleRun[]>;
}
