/** Runs of schedules, as their owners see and request them. */
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import { storable } from '../channels/text.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { notify } from '../database/notifications.ts';
import type { InJson } from '../database/statement.ts';
import type { ScheduleRuns } from '../database/tables.ts';
import { joinWork, putWork } from '../work/work.ts';

export interface SchedulePlace {
  readonly accountId: string;
  readonly agentId: string;
  readonly scheduleId: string;
}

export interface ScheduleRunRow extends Pick<
  Selectable<ScheduleRuns>,
  | 'id'
  | 'scheduleId'
  | 'scheduledFor'
  | 'manual'
  | 'startedAt'
  | 'endedAt'
  | 'status'
  | 'attempts'
  | 'answerPreview'
  | 'error'
> {
  /** Decimal USD of the agent's model calls during the run; null when none had a known price. */
  readonly cost: string | null;
}

export type RunJson = InJson<ScheduleRunRow>;

/** A column for a row `r` of runs and its work `w`. */
const runJson = sql<RunJson>`
  json_build_object(
    'id', r.id, 'scheduleId', r.schedule_id, 'scheduledFor', r.scheduled_for, 'manual', r.manual,
    'startedAt', coalesce(w.started_at, r.started_at), 'endedAt', r.ended_at, 'status', r.status,
    'attempts', coalesce(w.attempts, r.attempts), 'cost', trim_scale(r.cost_usd)::text,
    'answerPreview', r.answer_preview, 'error', coalesce(w.reason, r.error)
  )
`;

/** A column for a row of schedules: its newest run that is not missed. */
export const lastRun = sql<RunJson | null>`
  (
    select ${runJson} from schedule_runs r ${joinWork('run', 'r.id')}
    where r.schedule_id = schedules.id and r.status is distinct from 'missed' order by r.seq desc limit 1
  )
`;

export const runOfJson = ({ scheduledFor, startedAt, endedAt, ...run }: RunJson): ScheduleRunRow => ({
  ...run,
  scheduledFor: new Date(scheduledFor),
  startedAt: startedAt === null ? null : new Date(startedAt),
  endedAt: endedAt === null ? null : new Date(endedAt),
});

/** Selects runs. `where` is a condition on a row `r`. */
async function selectRuns(db: Queries, where: RawBuilder<unknown>): Promise<readonly ScheduleRunRow[]> {
  const { rows } = await sql<{ run: RunJson }>`
    select ${runJson} as run from schedule_runs r ${joinWork('run', 'r.id')} where ${where}
  `.execute(db);
  return rows.map(({ run }) => runOfJson(run));
}

/** Returns runs newest first, before the run of the given id. */
export function scheduleRuns(
  db: Queries,
  { scheduleId, agentId, accountId }: SchedulePlace,
  { before, limit }: { readonly before?: string; readonly limit: number },
): Promise<readonly ScheduleRunRow[]> {
  const of = sql`r.schedule_id = ${storable(scheduleId)} and r.agent_id = ${agentId} and r.account_id = ${accountId}`;
  const from =
    before === undefined
      ? sql``
      : sql`and r.seq < (select b.seq from schedule_runs b where b.id = ${before} and b.schedule_id = r.schedule_id)`;
  return selectRuns(db, sql`${of} ${from} order by r.seq desc limit ${limit}`);
}

/**
 * Puts a run of this id that is due at once. Returns undefined when one of the schedule waits or is in progress: the table has
 * one that is not over.
 */
export async function insertRequestedRun(
  trx: Transaction,
  { scheduleId, agentId, accountId }: SchedulePlace,
  runId: string,
): Promise<ScheduleRunRow | undefined> {
  const { numAffectedRows } = await sql`
    with made as (
      insert into schedule_runs (id, schedule_id, agent_id, account_id, scheduled_for, manual)
      select ${runId}, ${scheduleId}, ${agentId}, ${accountId}, now, true from clock_timestamp() now
      on conflict (schedule_id) where status is null do nothing
      returning id, seq, account_id, agent_id, scheduled_for as due_at
    )
    ${putWork('run')}
  `.execute(trx);
  if (numAffectedRows !== 1n) return undefined;
  await notify(trx, agentId, 'work');
  const [run] = await selectRuns(trx, sql`r.id = ${runId}`);
  return run;
}

/** Ends the waiting run of one of the schedule's times, with this reason. */
export async function skipWaitingRun(trx: Transaction, scheduleId: string, reason: string): Promise<void> {
  await sql`
    with locked as materialized (
      select id from schedule_runs where schedule_id = ${scheduleId} and status is null and not manual for no key update
    ), ended as (
      delete from work w using locked where w.kind = 'run' and w.id = locked.id and w.claim_holder is null returning w.*
    )
    update schedule_runs r set status = 'skipped', error = ${reason}, ended_at = clock_timestamp(), attempts = w.attempts,
      started_at = w.started_at
    from ended w where r.id = w.id
  `.execute(trx);
}
