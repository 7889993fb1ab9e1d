/** Rows of schedules and their runs, in the form of the ports. */
import type { PlannedSettings, SchedulePlace, ScheduleRow, ScheduleRun } from '@lodge/ports';
import { sql } from 'kysely';
import type { Kysely, RawBuilder, Selectable, Transaction } from 'kysely';
import { deliverColumns, toDelivery } from '../channels/deliver.ts';
import { storable } from '../channels/text.ts';
import type { Schema } from '../database/schema.ts';
import { joinWork } from '../work/work.ts';
import type { SchedulesTable } from './tables.ts';

/** A run from JSON, which has no dates. */
interface RunJson {
  readonly id: string;
  readonly schedule_id: string;
  readonly scheduled_for: string;
  readonly manual: boolean;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly status: ScheduleRun['status'];
  readonly attempts: number;
  readonly cost: string | null;
  readonly answer_preview: string | null;
  readonly error: string | null;
}

type Found = Selectable<SchedulesTable> & { readonly last_run: RunJson | null };

/** A column for a row `r` of runs and its work `w`. */
const runJson = sql<RunJson>`
  json_build_object(
    'id', r.id, 'schedule_id', r.schedule_id, 'scheduled_for', r.scheduled_for, 'manual', r.manual,
    'started_at', coalesce(w.started_at, r.started_at), 'ended_at', r.ended_at, 'status', r.status, 'attempts', coalesce(w.attempts, r.attempts),
    'cost', trim_scale(r.cost_usd)::text, 'answer_preview', r.answer_preview, 'error', coalesce(w.reason, r.error)
  )
`;

/** Selects schedules. `where` is a condition on a row `s`. */
export async function selectSchedules(db: Kysely<Schema>, where: RawBuilder<unknown>): Promise<readonly ScheduleRow[]> {
  const { rows } = await sql<Found>`
    select s.*, (
      select ${runJson} from schedule_runs r ${joinWork('run', 'r.id')}
      where r.schedule_id = s.id and r.status is distinct from 'missed' order by r.seq desc limit 1
    ) as last_run
    from schedules s
    where ${where} and exists (select from agents a where a.id = s.agent_id and a.desired = 'running')
    order by s.seq
  `.execute(db);
  return rows.map(toSchedule);
}

export const isPlace = ({ accountId, agentId, scheduleId }: SchedulePlace): RawBuilder<unknown> => sql`
  s.id = ${storable(scheduleId)} and s.agent_id = ${agentId} and s.account_id = ${accountId}
`;

/** Selects runs. `where` is a condition on a row `r`. */
export async function selectRuns(db: Kysely<Schema>, where: RawBuilder<unknown>): Promise<readonly ScheduleRun[]> {
  const { rows } = await sql<{ run: RunJson }>`
    select ${runJson} as run from schedule_runs r ${joinWork('run', 'r.id')} where ${where}
  `.execute(db);
  return rows.map(({ run }) => toRun(run));
}

/** Locks a schedule, after waiting for its writers; null when there is none. */
export async function lockSchedule(trx: Transaction<Schema>, place: SchedulePlace): Promise<ScheduleRow | null> {
  await sql`select from schedules s where ${isPlace(place)} for no key update`.execute(trx);
  return (await selectSchedules(trx, isPlace(place)))[0] ?? null;
}

export const toColumns = (settings: PlannedSettings) => ({
  name: settings.name,
  enabled: settings.enabled,
  cron: settings.cron,
  every: settings.every,
  at: settings.at,
  time_zone: settings.timeZone,
  anchor: settings.anchor,
  prompt: settings.prompt,
  conversation: settings.conversation,
  ...deliverColumns(settings.deliver),
  wake: settings.wake,
  next_run_at: settings.nextRunAt,
  planned_at: sql<Date>`clock_timestamp()`,
});

const toSchedule = (row: Found): ScheduleRow => ({
  id: row.id,
  accountId: row.account_id,
  agentId: row.agent_id,
  name: row.name,
  enabled: row.enabled,
  cron: row.cron,
  every: row.every,
  at: row.at,
  timeZone: row.time_zone,
  anchor: row.anchor,
  prompt: row.prompt,
  conversation: row.conversation,
  deliver: toDelivery(row),
  wake: row.wake,
  nextRunAt: row.next_run_at,
  lastRun: row.last_run && toRun(row.last_run),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const toRun = (run: RunJson): ScheduleRun => ({
  id: run.id,
  scheduleId: run.schedule_id,
  scheduledFor: new Date(run.scheduled_for),
  isManual: run.manual,
  startedAt: run.started_at === null ? null : new Date(run.started_at),
  endedAt: run.ended_at === null ? null : new Date(run.ended_at),
  status: run.status,
  attempts: run.attempts,
  cost: run.cost,
  answerPreview: run.answer_preview,
  error: run.error,
});
