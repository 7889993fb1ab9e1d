/** The ends of runs. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { RunStatus } from '@lodge/domain';
import type { Transaction } from '../database/database.ts';
import type { ScheduleRuns, Schedules } from '../database/tables.ts';
import { endedWork, postponedWork, vainWork } from '../work/work.ts';
import type { Postponement } from '../work/work.ts';
import type { WorkClaim } from '../work/leases.ts';

export type EndedRun = Pick<
  Selectable<ScheduleRuns>,
  'id' | 'scheduleId' | 'agentId' | 'accountId' | 'scheduledFor' | 'attempts'
> &
  Pick<Selectable<Schedules>, 'name' | 'deliverTo' | 'deliverChannel' | 'deliverConversation'> & {
    /** Decimal USD as text, or null. */
    readonly cost: string | null;
    readonly durationMs: number;
  };

/** Columns of a run `r` and its schedule `s`. */
const endedColumns = sql`
  r.id, r.schedule_id, r.agent_id, r.account_id, r.scheduled_for, r.attempts, trim_scale(r.cost_usd)::text as cost, s.name,
  s.deliver_to, s.deliver_channel, s.deliver_conversation,
  greatest(0, coalesce(extract(epoch from r.ended_at - r.started_at) * 1000, 0))::float8 as duration_ms
`;

/** Cost of the agent's model calls since the attempt of `w` began: those of its turn, and any others meanwhile. */
const costSince = sql`
  (
    select sum(c.cost_usd) from llm_calls c where c.agent_id = r.agent_id and c.started_at >= w.attempt_at
  )
`;

/** The cost of a row `r` of runs, with the attempt of its work `w`. */
const costWithAttempt = sql`
  case when w.attempt_at is null or ${costSince} is null then r.cost_usd else coalesce(r.cost_usd, 0) + ${costSince} end
`;

export interface RunEnd {
  readonly status: RunStatus;
  readonly error: string | null;
  readonly answerPreview: string | null;
}

/** Ends a run with its cost; undefined when the claim was lost. */
export async function endRun(
  trx: Transaction,
  claim: WorkClaim,
  { status, error, answerPreview }: RunEnd,
): Promise<EndedRun | undefined> {
  const { rows } = await sql<EndedRun>`
    with ${endedWork('run', claim)}
    update schedule_runs r set status = ${status}, ended_at = clock_timestamp(), attempts = w.attempts,
      started_at = case when ${status === 'skipped'} then null else w.started_at end, cost_usd = ${costWithAttempt},
      error = ${error}, answer_preview = ${answerPreview}
    from ended w, schedules s where r.id = w.id and s.id = r.schedule_id
    returning ${endedColumns}
  `.execute(trx);
  return rows[0];
}

/** Makes an ended run a failed one. */
export async function failRun(trx: Transaction, id: string, error: string): Promise<void> {
  await sql`update schedule_runs set status = 'failed', error = ${error} where id = ${id}`.execute(trx);
}

/** Marks one run as missed that nobody began within `maxWaitMs`; undefined when there is none. */
export async function missVainRun(trx: Transaction, maxWaitMs: number, error: string): Promise<EndedRun | undefined> {
  const { rows } = await sql<EndedRun>`
    with ${vainWork('run', maxWaitMs)}
    update schedule_runs r set status = 'missed', ended_at = clock_timestamp(), error = ${error}
    from ended w, schedules s where r.id = w.id and s.id = r.schedule_id
    returning ${endedColumns}
  `.execute(trx);
  return rows[0];
}

/** Ends only the claim, and counts the cost of its attempt. False when the claim was lost. */
export async function postponeRun(trx: Transaction, claim: WorkClaim, wait: Postponement): Promise<boolean> {
  // The row of work is read as it was before.
  const { numAffectedRows } = await sql`
    with ${postponedWork('run', claim, wait)}
    update schedule_runs r set cost_usd = ${costWithAttempt}
    from postponed join work w on w.kind = 'run' and w.id = postponed.id where r.id = postponed.id
  `.execute(trx);
  return numAffectedRows === 1n;
}
