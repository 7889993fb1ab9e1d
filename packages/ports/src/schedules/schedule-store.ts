import type { RunStatus } from '@lodge/domain';
import type { Unsayable } from '../channels/channel-store.ts';
import type { Delivery } from '../channels/delivery.ts';
import type { ActorNote } from '../events/change-note.ts';

/** What an owner sets. Exactly one of `cron`, `every` and `at` is not null. */
export interface ScheduleSettings {
  readonly name: string;
  readonly enabled: boolean;
  readonly cron: string | null;
  /** As it was given, such as `15m`. */
  readonly every: string | null;
  readonly at: Date | null;
  readonly timeZone: string;
  readonly prompt: string;
  /** The agent's conversation; null: one of the schedule's own. */
  readonly conversation: string | null;
  /** Where the answers of its runs go. */
  readonly deliver: Delivery;
  /** False: an agent that does not run is left asleep, and the time is skipped. */
  readonly wake: boolean;
}

export interface ScheduleRow extends ScheduleSettings {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  /** Where intervals are counted from. */
  readonly anchor: Date;
  /** Null: it is not enabled, or its time has passed. */
  readonly nextRunAt: Date | null;
  /** The newest that is not `missed`; null: there was none. */
  readonly lastRun: ScheduleRun | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ScheduleRun {
  readonly id: string;
  readonly scheduleId: string;
  readonly scheduledFor: Date;
  /** Somebody asked for it. */
  readonly isManual: boolean;
  /** Null: it was not begun. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** Null: it waits, or is under way. */
  readonly status: RunStatus | null;
  /** How often its turn was begun. */
  readonly attempts: number;
  /** Decimal USD of the agent's model calls while the run was under way; null: none had a known price. */
  readonly cost: string | null;
  readonly answerPreview: string | null;
  /** Why it is not `ok`, or what came of the attempt before while another is to come. */
  readonly error: string | null;
}

export interface SchedulePlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly scheduleId: string;
}

/** Settings with the times that follow of them. */
export interface PlannedSettings extends ScheduleSettings {
  readonly anchor: Date;
  readonly nextRunAt: Date | null;
}

export interface ScheduleStore {
  /** Oldest first. */
  list(accountId: string, agentId: string): Promise<readonly ScheduleRow[]>;
  find(place: SchedulePlace): Promise<ScheduleRow | null>;
  /**
   * With this id. `plan` is given the database's time, and may be called twice. `full` when the agent has `most` others, `no_agent` when the
   * account has no such agent, `no_conversation` and `not_allowed` when the answer could not go there; nothing is written then.
   */
  create(
    place: SchedulePlace,
    plan: (now: Date) => PlannedSettings,
    most: number,
    note?: ActorNote,
  ): Promise<ScheduleRow | 'full' | 'no_agent' | Unsayable>;
  /**
   * Null: there is no such schedule. A schedule that is no longer enabled has no run that waits. A delivery that does not change is
   * not looked at.
   */
  update(
    place: SchedulePlace,
    plan: (row: ScheduleRow, now: Date) => PlannedSettings,
    note?: ActorNote,
  ): Promise<ScheduleRow | Unsayable | null>;
  /** With its runs; one under way ends. False: there is none. */
  remove(place: SchedulePlace, note?: ActorNote): Promise<boolean>;
  /** A run of this id that is due at once, enabled or not. `running`: one waits or is under way. Null: there is no such schedule. */
  ask(place: SchedulePlace, runId: string, note?: ActorNote): Promise<ScheduleRun | 'running' | null>;
  /** Newest first, before the run of that id where one is given. */
  runs(
    place: SchedulePlace,
    page: { readonly before?: string; readonly limit: number },
  ): Promise<readonly ScheduleRun[]>;
}
