import type { ClaimOptions, ClaimedRun } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { toDelivery } from '../channels/deliver.ts';
import type { DeliverColumns } from '../channels/tables.ts';
import { busyIn, chosenOf, claimedColumns, isDue } from '../claimed/claims.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Schema } from '../database/schema.ts';

/** Cost of the agent's model calls since the run's attempt began: those of its turn, and any others meanwhile. */
const costSince = sql`
  (
    select sum(c.cost_usd) from llm_calls c where c.agent_id = r.agent_id and c.started_at >= r.attempt_at
  )
`;

/** The cost of a row `r`, with its attempt. */
export const costWithAttempt = sql`
  case when r.attempt_at is null or ${costSince} is null then r.cost_usd else coalesce(r.cost_usd, 0) + ${costSince} end
`;

interface Taken extends DeliverColumns {
  readonly id: string;
  readonly claim: number;
  readonly attempts: number;
  readonly scheduled_for: Date;
  readonly manual: boolean;
  readonly may_have_acted: boolean;
  readonly schedule_id: string;
  readonly account_id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly time_zone: string;
  readonly prompt: string;
  readonly conversation: string | null;
  readonly wake: boolean;
}

export async function claimRuns(trx: Transaction<Schema>, options: ClaimOptions): Promise<readonly ClaimedRun[]> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.scheduleClaims})`.execute(trx);
  const { rows } = await sql<Taken>`
    with ${busyIn('schedule_runs', options)}, ready as (
      select distinct on (r.agent_id) r.id, r.account_id, r.due_at, r.seq
      from schedule_runs r join agents a on a.id = r.agent_id and a.desired = 'running'
      where r.status is null and (a.host is null or a.host = ${options.host})
        and ${isDue} and not exists (select from busy b where b.agent_id = r.agent_id)
      order by r.agent_id, r.due_at, r.seq
    ), ${chosenOf(options)}, taken as (
      update schedule_runs r set ${claimedColumns(options)}, cost_usd = ${costWithAttempt}
      from chosen where r.id = chosen.id
      returning r.id, r.claim, r.attempts - 1 as attempts, r.scheduled_for, r.manual, r.may_have_acted, r.schedule_id
    )
    select taken.*, s.account_id, s.agent_id, s.name, s.time_zone, s.prompt, s.conversation, s.deliver_to,
      s.deliver_channel, s.deliver_conversation, s.wake
    from taken join chosen using (id) join schedules s on s.id = taken.schedule_id
    order by chosen.of_account, chosen.due_at, chosen.seq
  `.execute(trx);
  return rows.map(toClaimed);
}

const toClaimed = (row: Taken): ClaimedRun => ({
  id: row.id,
  claim: row.claim,
  attempts: row.attempts,
  scheduledFor: row.scheduled_for,
  isManual: row.manual,
  mayHaveActed: row.may_have_acted,
  schedule: {
    id: row.schedule_id,
    accountId: row.account_id,
    agentId: row.agent_id,
    name: row.name,
    timeZone: row.time_zone,
    prompt: row.prompt,
    conversation: row.conversation,
    deliver: toDelivery(row),
    wake: row.wake,
  },
});
