import type { ActorNote, Delivery, SchedulePlace, ScheduleRow, ScheduleRun } from '@lodge/ports';

/** A schedule as its owner gives it; what is left out stays as it is, or as it is by default. */
export interface ScheduleInput {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly cron?: string;
  readonly every?: string;
  readonly at?: Date;
  readonly timeZone?: string;
  readonly prompt?: string;
  readonly conversation?: string | null;
  readonly deliver?: Delivery;
  readonly wake?: boolean;
}

/** What a new one cannot be without. */
export type NewSchedule = ScheduleInput & { readonly name: string; readonly prompt: string };

/**
 * What owners do with the schedules of their agents, in every state of the agent. Each refuses with `agent_not_found` where the account
 * has no such agent, and with `schedule_not_found` where the agent has no such schedule.
 */
export interface Schedules {
  list(accountId: string, agentId: string): Promise<readonly ScheduleRow[]>;
  get(place: SchedulePlace): Promise<ScheduleRow>;
  /** With this id. Refuses with `invalid_request` and the field, or `quota_exceeded`. */
  create(place: SchedulePlace, input: NewSchedule, note?: ActorNote): Promise<ScheduleRow>;
  /** Refuses with `invalid_request` and the field. */
  update(place: SchedulePlace, input: ScheduleInput, note?: ActorNote): Promise<ScheduleRow>;
  /** A run under way ends. */
  remove(place: SchedulePlace, note?: ActorNote): Promise<void>;
  /** A run of this id, at once. Refuses with `schedule_running`. */
  run(place: SchedulePlace, runId: string, note?: ActorNote): Promise<ScheduleRun>;
  /** Newest first. */
  runs(
    place: SchedulePlace,
    page: { readonly before?: string; readonly limit: number },
  ): Promise<readonly ScheduleRun[]>;
}
