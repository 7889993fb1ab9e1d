/**
 * Claims of runs. A claim ends by the database's clock, and its number fences what it may write. A claim that reaches further than
 * any can is one from before the clock went back: nobody holds it.
 */
import type { ClaimOptions, ClaimedRun, TurnClaim } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, SqlBool, Transaction } from 'kysely';
import { toDelivery } from '../channels/deliver.ts';
import type { DeliverColumns } from '../channels/tables.ts';
import { inMs } from '../channels/leases.ts';
import { advisoryLocks } from '../database/locks.ts';
import type { Schema } from '../database/schema.ts';

/** Nothing is put off by more; what is further away was put off before the clock went back. */
const furthestMs = 3_600_000;

/** Model calls of the run's agent since its attempt began: of its turn, and of whatever else the agent did meanwhile. */
const costSince = sql`
  (
    select sum(c.cost_usd) from llm_calls c where c.agent_id = r.agent_id and c.started_at >= r.attempt_at
  )
`;

/** Of a row `r`, with its attempt. */
export const costWithAttempt = sql`
  case when r.attempt_at is null or ${costSince} is null then r.cost_usd else coalesce(r.cost_usd, 0) + ${costSince} end
`;

export const claimRows = (claims: readonly TurnClaim[]): RawBuilder<unknown> => sql`
  unnest(${claims.map(({ id }) => id)}::text[], ${claims.map(({ claim }) => claim)}::integer[]) k (id, claim)
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

/** The account's n-th run waits behind the n-th of all others, however long it has waited. */
export async function claimRuns(
  trx: Transaction<Schema>,
  { holder, host, limit, leaseMs, except }: ClaimOptions,
): Promise<readonly ClaimedRun[]> {
  await sql`select pg_advisory_xact_lock(${advisoryLocks.scheduleClaims})`.execute(trx);
  const held: RawBuilder<SqlBool> = sql`
    (r.claim_until > clock_timestamp() and r.claim_until < clock_timestamp() + 2 * ${leaseMs} * interval '1 millisecond'
      or r.id = any(${[...except]}::text[]))
  `;
  const { rows } = await sql<Taken>`
    with busy as materialized (
      select agent_id, account_id from schedule_runs r where r.status is null and r.claim_until is not null and ${held}
    ), ready as (
      select r.id, r.account_id, r.due_at, r.seq, row_number() over (partition by r.agent_id order by r.due_at, r.seq) as of_agent
      from schedule_runs r join agents a on a.id = r.agent_id and a.desired = 'running'
      where r.status is null and (r.claim_until is null or not ${held}) and (a.host is null or a.host = ${host})
        and (r.due_at <= clock_timestamp() or r.due_at > clock_timestamp() + ${furthestMs} * interval '1 millisecond')
        and not exists (select from busy b where b.agent_id = r.agent_id)
    ), ranked as (
      select id, due_at, seq, row_number() over (partition by account_id order by due_at, seq)
        + (select count(*) from busy b where b.account_id = ready.account_id) as of_account
      from ready where of_agent = 1
    ), chosen as (
      select id, of_account, due_at, seq from ranked order by of_account, due_at, seq limit ${limit}
    ), taken as (
      update schedule_runs r set claim = r.claim + 1, claim_holder = ${holder}, claim_until = ${inMs(leaseMs)},
        attempts = r.attempts + 1, may_have_acted = r.may_have_acted or r.attempt_at is not null,
        cost_usd = ${costWithAttempt}, attempt_at = clock_timestamp(), started_at = coalesce(r.started_at, clock_timestamp())
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
