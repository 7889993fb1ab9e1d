/**
 * Fires schedules. In one transaction a schedule gets a row for its time and moves to the next one. A time is therefore
 * neither lost nor taken twice, whoever dies and however many processes look. Schedules of one agent go together, because a
 * writer of events in several agents' logs would wait for another such writer.
 */
import type { DueSchedule, FiringPlan, ScheduleRuns } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { appendEvents } from '../events/append.ts';
import { notify } from '../database/notifications.ts';
import { putWork } from '../work/work.ts';

type Plan = Parameters<ScheduleRuns['fire']>[1];

interface DueRow {
  readonly id: string;
  readonly agent_id: string;
  readonly account_id: string;
  readonly name: string;
  readonly cron: string | null;
  readonly every: string | null;
  readonly at: Date | null;
  readonly time_zone: string;
  readonly anchor: Date;
  readonly due: Date;
}

/** A time that has no run of its own. */
interface PassedTime {
  readonly row: DueRow;
  readonly at: Date;
  readonly status: 'missed' | 'skipped';
  readonly reason: string;
}

const overlap = 'The run before was not over yet.';

const missedWords = (from: Date, to: Date): string =>
  `Times from ${from.toISOString()} to ${to.toISOString()} passed while nobody could look; one run stands for them.`;

export const dueColumns = sql`
  s.id, s.agent_id, s.account_id, s.name, s.cron, s.every, s.at, s.time_zone, s.anchor, s.next_run_at as due
`;

/** A condition on a row `s`. */
export const hasAgent = sql`exists (select from agents a where a.id = s.agent_id and a.desired = 'running')`;

export const toDue = (row: DueRow): DueSchedule => ({
  id: row.id,
  agentId: row.agent_id,
  cron: row.cron,
  every: row.every,
  at: row.at,
  timeZone: row.time_zone,
  anchor: row.anchor,
  due: row.due,
});

export async function fireAgent(trx: Transaction<Schema>, limit: number, plan: Plan): Promise<number> {
  const rows = await lockDue(trx, limit);
  const [first] = rows;
  if (first === undefined) return 0;
  const { now, agents } = await crowd(trx);
  const plans = rows.map((row) => ({ row, firing: plan(toDue(row), now, agents) }));
  const made = await makeRuns(trx, plans);
  const passed = plans.flatMap(({ row, firing }) => passedTimes(row, firing, now, made.has(row.id)));
  const written = await writePassed(trx, passed);
  await notify(trx, first.agent_id, 'schedule_work');
  await appendEvents(trx, written.map(eventOf));
  return rows.length;
}

/** Locks the due schedules of the agent whose schedule has waited longest. */
async function lockDue(trx: Transaction<Schema>, limit: number): Promise<readonly DueRow[]> {
  const { rows: found } = await sql<{ agent_id: string }>`
    select s.agent_id from schedules s where s.next_run_at <= clock_timestamp() and ${hasAgent}
    order by s.next_run_at, s.seq limit 1 for no key update of s skip locked
  `.execute(trx);
  const agentId = found[0]?.agent_id;
  if (agentId === undefined) return [];
  const { rows } = await sql<DueRow>`
    select ${dueColumns} from schedules s where s.agent_id = ${agentId} and s.next_run_at <= clock_timestamp()
    order by s.next_run_at, s.seq limit ${limit} for no key update of s skip locked
  `.execute(trx);
  return rows;
}

async function crowd(trx: Transaction<Schema>): Promise<{ readonly now: Date; readonly agents: number }> {
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

interface Planned {
  readonly row: DueRow;
  readonly firing: FiringPlan;
}

/**
 * Makes runs and returns the ids of schedules that got one. The others have a run that is not over, or had one for this
 * time.
 */
async function makeRuns(trx: Transaction<Schema>, plans: readonly Planned[]): Promise<ReadonlySet<string>> {
  const given = plans.map(({ row, firing }) => ({
    id: row.id,
    agent_id: row.agent_id,
    account_id: row.account_id,
    scheduled_for: firing.scheduledFor,
    next: firing.next,
    jitter: firing.jitterMs,
  }));
  const { rows } = await sql<{ schedule_id: string }>`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) g (
        id text, agent_id text, account_id text, scheduled_for timestamptz, next timestamptz, jitter integer
      )
    ), moved as (
      update schedules s set next_run_at = g.next, planned_at = clock_timestamp() from given g where s.id = g.id
    ), runs as (
      insert into schedule_runs (schedule_id, agent_id, account_id, scheduled_for)
      select id, agent_id, account_id, scheduled_for from given
      on conflict do nothing
      returning id, seq, schedule_id, account_id, agent_id
    ), made as (
      select r.*, clock_timestamp() + g.jitter * interval '1 millisecond' as due_at from runs r join given g on g.id = r.schedule_id
    ), put as (
      ${putWork('run')}
    )
    select schedule_id from runs
  `.execute(trx);
  return new Set(rows.map(({ schedule_id }) => schedule_id));
}

function passedTimes(row: DueRow, firing: FiringPlan, now: Date, isMade: boolean): readonly PassedTime[] {
  const { scheduledFor, missedFrom } = firing;
  const skipped = { row, at: scheduledFor, status: 'skipped', reason: overlap } as const;
  const missed =
    missedFrom && ({ row, at: missedFrom, status: 'missed', reason: missedWords(missedFrom, now) } as const);
  return [...(isMade ? [] : [skipped]), ...(missed ? [missed] : [])];
}

type Written = PassedTime & { readonly runId: string };

/** Writes passed times and returns the new ones. A clock that went back repeats times. */
async function writePassed(trx: Transaction<Schema>, passed: readonly PassedTime[]): Promise<readonly Written[]> {
  if (passed.length === 0) return [];
  const given = passed.map(({ row, at, status, reason }) => ({
    schedule_id: row.id,
    agent_id: row.agent_id,
    account_id: row.account_id,
    at,
    status,
    reason,
  }));
  const { rows } = await sql<{ id: string; schedule_id: string; scheduled_for: Date }>`
    insert into schedule_runs (schedule_id, agent_id, account_id, scheduled_for, status, error, ended_at)
    select schedule_id, agent_id, account_id, at, status, reason, clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) g (
      schedule_id text, agent_id text, account_id text, at timestamptz, status text, reason text
    )
    on conflict do nothing
    returning id, schedule_id, scheduled_for
  `.execute(trx);
  return passed.flatMap((time) => {
    const found = rows.find(
      (row) => row.schedule_id === time.row.id && row.scheduled_for.getTime() === time.at.getTime(),
    );
    return found ? [{ ...time, runId: found.id }] : [];
  });
}

const eventOf = ({ row, at, status, reason, runId }: Written) => ({
  type: 'schedule.missed' as const,
  data: { schedule_id: row.id, name: row.name, run_id: runId, scheduled_for: at.toISOString(), status, reason },
  accountId: row.account_id,
  agentId: row.agent_id,
  by: null,
});
