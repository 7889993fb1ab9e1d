import type { ActorNote, Delivery, SchedulePlace, ScheduleRow, ScheduleRun } from '@lodge/ports';

/** A schedule as its owner gives it; omitted fields stay as they are, or get their defaults. */
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

/** A new schedule needs these fields. */
export type NewSchedule = ScheduleInput & { readonly name: string; readonly prompt: string };

/**
 * The owners' use-cases for the schedules of their agents, in every state of the agent. Each refuses with `agent_not_found`
 * where the account has no such agent, and with `schedule_not_found` where the agent has no such schedule.
 */
export interface Schedules {
  list(accountId: string, agentId: string): Promise<readonly ScheduleRow[]>;
  get(place: SchedulePlace): Promise<ScheduleRow>;
  /** Creates a schedule with this id. Refuses with `invalid_request` and the field, or with `quota_exceeded`. */
  create(place: SchedulePlace, input: NewSchedule, note?: ActorNote): Promise<ScheduleRow>;
  /** Changes a schedule. Refuses with `invalid_request` and the field. */
  update(place: SchedulePlace, input: ScheduleInput, note?: ActorNote): Promise<ScheduleRow>;
  /** Removes a schedule; its current run ends. */
  remove(place: SchedulePlace, note?: ActorNote): Promise<void>;
  /** Begins a run with this id, at once. Refuses with `schedule_running`. */
  run(place: SchedulePlace, runId: string, note?: ActorNote): Promise<ScheduleRun>;
  /** Newest first. */
  runs(
    place: SchedulePlace,
    page: { readonly before?: string; readonly limit: number },
  ): Promise<readonly ScheduleRun[]>;
}
