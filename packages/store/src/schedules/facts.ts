import { sql } from 'kysely';

/** A claimed run, for the prompt of its turn. */
export interface RunFacts {
  /** A time, as JSON has it. */
  readonly scheduledFor: string;
  /** Whether a person requested the run. */
  readonly isManual: boolean;
  readonly schedule: {
    readonly id: string;
    readonly accountId: string;
    readonly agentId: string;
    readonly name: string;
    readonly timeZone: string;
    readonly prompt: string;
    /** The agent's conversation; null for one of the schedule's own. */
    readonly conversation: string | null;
    /** False leaves a sleeping agent asleep and skips the time. */
    readonly wake: boolean;
  };
}

export const runFacts = sql<RunFacts>`
  (
    select json_build_object(
      'scheduledFor', r.scheduled_for, 'isManual', r.manual,
      'schedule', json_build_object('id', s.id, 'accountId', s.account_id, 'agentId', s.agent_id, 'name', s.name,
        'timeZone', s.time_zone, 'prompt', s.prompt, 'conversation', s.conversation, 'wake', s.wake)
    )
    from schedule_runs r join schedules s on s.id = r.schedule_id where r.id = taken.id
  )
`;
