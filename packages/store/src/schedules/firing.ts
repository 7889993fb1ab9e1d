/**
 * Due schedules and the rows of their times. Schedules of one agent go together, because a writer of events in several agents'
 * logs would wait for another such writer.
 */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Transaction } from '../database/database.ts';
import { notify } from '../database/notifications.ts';
import type { Schedules } from '../database/tables.ts';
import { putWork } from '../work/work.ts';

export type DueSchedule = Pick<
  Selectable<Schedules>,
  'id' | 'agentId' | 'accountId' | 'name' | 'cron' | 'every' | 'at' | 'timeZone' | 'anchor'
> & { readonly due: Date };

/** A clock that goes back by less is being set right, and its schedules wait a moment longer. */
const jumpMs = 60_000;

const dueColumns = sql`
  s.id, s.agent_id, s.account_id, s.name, s.cron, s.every, s.at, s.time_zone, s.anchor, s.next_run_at as due
`;

/** A condition on a row `s`. */
const hasAgent = sql`exists (select from agents a where a.id = s.agent_id and a.desired = 'running')`;

/** Locks the due schedules of the agent whose schedule has waited longest, at most `limit`. */
export async function lockDue(trx: Transaction, limit: number): Promise<readonly DueSchedule[]> {
  const { rows: found } = await sql<{ agentId: string }>`
    select s.agent_id from schedules s where s.next_run_at <= clock_timestamp() and ${hasAgent}
    order by s.next_run_at, s.seq limit 1 for no key update of s skip locked
  `.execute(trx);
  const agentId = found[0]?.agentId;
  if (agentId === undefined) return [];
  const { rows } = await sql<DueSchedule>`
    select ${dueColumns} from schedules s where s.agent_id = ${agentId} and s.next_run_at <= clock_timestamp()
    order by s.next_run_at, s.seq limit ${limit} for no key update of s skip locked
  `.execute(trx);
  return rows;
}

/** Returns the database's time, and the number of agents with schedules that are due or whose run was delayed. */
export async function crowd(trx: Transaction): Promise<{ readonly now: Date; readonly agents: number }> {
  const { rows } = await sql<{ now: Date; agents: number }>`
    select now, (
      select count(distinct agent_id)::int from (
        select agent_id from schedules where next_run_at <= now
        union all select agent_id from work where kind = 'run' and claim_holder is null and attempts = 0
      ) waiting
    ) as agents
    from clock_timestamp() now
  `.execute(trx);
  return rows[0]!;
}

export interface PlannedRun extends Pick<DueSchedule, 'id' | 'agentId' | 'accountId'> {
  readonly scheduledFor: Date;
  readonly next: Date | null;
  /** Delay of the run, in ms. */
  readonly jitterMs: number;
}

/**
 * Makes runs of one agent's schedules and moves these to their next times. Returns the ids of schedules that got one; the
 * others have a run that is not over, or had one for this time.
 */
export async function makeRuns(trx: Transaction, planned: readonly PlannedRun[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ scheduleId: string }>`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(planned)}::jsonb) g (
        id text, "agentId" text, "accountId" text, "scheduledFor" timestamptz, next timestamptz, "jitterMs" integer
      )
    ), moved as (
      update schedules s set next_run_at = g.next, planned_at = clock_timestamp() from given g where s.id = g.id
    ), runs as (
      insert into schedule_runs (schedule_id, agent_id, account_id, scheduled_for)
      select id, "agentId", "accountId", "scheduledFor" from given
      on conflict do nothing
      returning id, seq, schedule_id, account_id, agent_id
    ), made as (
      select r.*, clock_timestamp() + g."jitterMs" * interval '1 millisecond' as due_at from runs r join given g on g.id = r.schedule_id
    ), put as (
      ${putWork('run')}
    )
    select schedule_id from runs
  `.execute(trx);
  await notify(trx, planned[0]!.agentId, 'work');
  return new Set(rows.map(({ scheduleId }) => scheduleId));
}

/** A time that has no run of its own. */
export interface PassedTime extends Pick<DueSchedule, 'agentId' | 'accountId'> {
  readonly scheduleId: string;
  readonly at: Date;
  readonly status: 'missed' | 'skipped';
  readonly reason: string;
}

interface WrittenTime {
  readonly id: string;
  readonly scheduleId: string;
  readonly scheduledFor: Date;
}

/** Writes passed times and returns the new ones. A clock that went back repeats times. */
export async function writePassed(trx: Transaction, passed: readonly PassedTime[]): Promise<readonly WrittenTime[]> {
  if (passed.length === 0) return [];
  const { rows } = await sql<WrittenTime>`
    insert into schedule_runs (schedule_id, agent_id, account_id, scheduled_for, status, error, ended_at)
    select "scheduleId", "agentId", "accountId", at, status, reason, clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(passed)}::jsonb) g (
      "scheduleId" text, "agentId" text, "accountId" text, at timestamptz, status text, reason text
    )
    on conflict do nothing
    returning id, schedule_id, scheduled_for
  `.execute(trx);
  return rows;
}

/** Locks a schedule that was planned at a time still ahead of the database's clock, because the clock went back. */
export async function lockAhead(trx: Transaction): Promise<(DueSchedule & { readonly now: Date }) | undefined> {
  const { rows } = await sql<DueSchedule & { now: Date }>`
    select ${dueColumns}, clock_timestamp() as now from schedules s
    where s.next_run_at is not null and s.planned_at > clock_timestamp() + ${jumpMs} * interval '1 millisecond' and ${hasAgent}
    order by s.planned_at desc limit 1 for no key update of s skip locked
  `.execute(trx);
  return rows[0];
}

/** Returns the schedule's times after `now` that have a run, in milliseconds. */
export async function timesTaken(trx: Transaction, scheduleId: string, now: Date): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ scheduledFor: Date }>`
    select scheduled_for from schedule_runs where schedule_id = ${scheduleId} and not manual and scheduled_for > ${now}
  `.execute(trx);
  return new Set(rows.map(({ scheduledFor }) => scheduledFor.getTime()));
}

export async function moveSchedule(
  trx: Transaction,
  scheduleId: string,
  { anchor, next }: { readonly anchor: Date; readonly next: Date | null },
): Promise<void> {
  await sql`
    update schedules set anchor = ${anchor}, next_run_at = ${next}, planned_at = clock_timestamp() where id = ${scheduleId}
  `.execute(trx);
}
