/** Ends a run in one transaction under its claim: writes its cost and its event, and delivers its answer. */
import { previewOf } from '@lodge/domain';
import type { RunStatus } from '@lodge/domain';
import type { NewEvent, TurnClaim, TurnEnd } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { deliverAnswer, deliveryFacts } from '../channels/deliver.ts';
import type { DeliverColumns } from '../channels/tables.ts';
import { storable } from '../channels/text.ts';
import type { Schema } from '../database/schema.ts';
import { appendEvents } from '../events/append.ts';
import { notify } from '../database/notifications.ts';
import { endedWork, storableReason } from '../work/work.ts';

/** Cost of the agent's model calls since the attempt of `w` began: those of its turn, and any others meanwhile. */
const costSince = sql`
  (
    select sum(c.cost_usd) from llm_calls c where c.agent_id = r.agent_id and c.started_at >= w.attempt_at
  )
`;

/** The cost of a row `r` of runs, with the attempt of its work `w`. */
export const costWithAttempt = sql`
  case when w.attempt_at is null or ${costSince} is null then r.cost_usd else coalesce(r.cost_usd, 0) + ${costSince} end
`;

const statuses = { answered: 'ok', failed: 'failed', skipped: 'skipped' } as const satisfies Record<
  TurnEnd['outcome'],
  RunStatus
>;

interface Ended extends DeliverColumns {
  readonly id: string;
  readonly schedule_id: string;
  readonly agent_id: string;
  readonly account_id: string;
  readonly scheduled_for: Date;
  readonly attempts: number;
  readonly cost: string | null;
  readonly duration_ms: number;
  readonly name: string;
}

export async function endRun(trx: Transaction<Schema>, claim: TurnClaim, end: TurnEnd): Promise<boolean> {
  const { reason } = end;
  const answer = end.answer === null ? null : storable(end.answer);
  const status = statuses[end.outcome];
  const isSkipped = end.outcome === 'skipped';
  const { rows } = await sql<Ended>`
    with ${endedWork('run', claim)}
    update schedule_runs r set status = ${status}, ended_at = clock_timestamp(), attempts = w.attempts,
      started_at = case when ${isSkipped} then null else w.started_at end, cost_usd = ${costWithAttempt},
      error = ${reason === null ? null : storableReason(reason)},
      answer_preview = ${answer === null ? null : previewOf(answer)}
    from ended w, schedules s where r.id = w.id and s.id = r.schedule_id
    returning r.id, r.schedule_id, r.agent_id, r.account_id, r.scheduled_for, r.attempts,
      trim_scale(r.cost_usd)::text as cost, s.name, s.deliver_to, s.deliver_channel, s.deliver_conversation,
      greatest(0, coalesce(extract(epoch from r.ended_at - r.started_at) * 1000, 0))::float8 as duration_ms
  `.execute(trx);
  const [run] = rows;
  if (run === undefined) return false;
  const trouble = await deliverAnswer(trx, run, answer);
  if (trouble !== null) {
    await sql`update schedule_runs set status = 'failed', error = ${trouble} where id = ${run.id}`.execute(trx);
  }
  // The agent may have another waiting run.
  await notify(trx, run.agent_id, 'schedule_work');
  await appendEvents(trx, [eventOf(run, trouble === null ? { ...end, answer } : failed(trouble))]);
  return true;
}

const failed = (reason: string): TurnEnd => ({ outcome: 'failed', reason, answer: null });

function eventOf(run: Ended, { outcome, answer, ...end }: TurnEnd): NewEvent {
  const of = { accountId: run.account_id, agentId: run.agent_id, by: null };
  const which = {
    schedule_id: run.schedule_id,
    name: run.name,
    run_id: run.id,
    scheduled_for: run.scheduled_for.toISOString(),
  };
  const facts = { ...which, duration_ms: Math.round(run.duration_ms), attempts: run.attempts, cost: run.cost };
  const reason = storableReason(end.reason ?? '');
  switch (outcome) {
    case 'answered':
      return { type: 'schedule.ran', data: { ...facts, ...deliveryFacts(run.deliver_to, answer) }, ...of };
    case 'failed':
      return { type: 'schedule.failed', data: { ...facts, reason }, ...of };
    case 'skipped':
      return { type: 'schedule.missed', data: { ...which, status: outcome, reason }, ...of };
  }
}
