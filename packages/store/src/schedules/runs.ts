import type {
  ClaimOptions,
  ClaimedRun,
  Postponement,
  ScheduleRuns,
  TidyBounds,
  TurnClaim,
  TurnEnd,
} from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';
import type { Schema } from '../database/schema.ts';
import { renewClaims } from '../work/leases.ts';
import { postponedWork } from '../work/work.ts';
import { claimRuns } from './claims.ts';
import { costWithAttempt, endRun } from './ending.ts';
import { dueColumns, fireAgent, hasAgent, toDue } from './firing.ts';
import { tidyRuns } from './tidy.ts';

/** A clock that goes back by less is being set right, and its schedules wait a moment longer. */
const jumpMs = 60_000;
const maxReplanned = 1_000;

/** `ScheduleRuns` in Postgres. */
export class PostgresScheduleRuns implements ScheduleRuns {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  async fire(limit: number, plan: Parameters<ScheduleRuns['fire']>[1]): Promise<number> {
    let fired = 0;
    while (fired < limit) {
      const more = await this.database.transaction((trx) => fireAgent(trx, limit - fired, plan));
      if (more === 0) break;
      fired += more;
    }
    return fired;
  }

  async replan(plan: Parameters<ScheduleRuns['replan']>[0]): Promise<number> {
    let replanned = 0;
    while (replanned < maxReplanned) {
      if (!(await this.database.transaction((trx) => replanOne(trx, plan)))) break;
      replanned += 1;
    }
    return replanned;
  }

  claim(options: ClaimOptions): Promise<readonly ClaimedRun[]> {
    return this.database.transaction((trx) => claimRuns(trx, options));
  }

  renew(claims: readonly TurnClaim[], leaseMs: number): Promise<ReadonlySet<string>> {
    return this.database.repeatable((db) => renewClaims(db, sql`work`, claims, leaseMs));
  }

  end(claim: TurnClaim, end: TurnEnd): Promise<boolean> {
    return this.database.transaction((trx) => endRun(trx, claim, end));
  }

  async postpone(claim: TurnClaim, wait: Postponement): Promise<boolean> {
    const { numAffectedRows } = await this.database.once((db) =>
      // The row of work is read as it was before.
      sql`
        with ${postponedWork('run', claim, wait)}
        update schedule_runs r set cost_usd = ${costWithAttempt}
        from postponed join work w on w.kind = 'run' and w.id = postponed.id where r.id = postponed.id
      `.execute(db),
    );
    return numAffectedRows === 1n;
  }

  tidy(bounds: TidyBounds): Promise<void> {
    return tidyRuns(this.database, bounds);
  }

  onWork(listener: () => void): () => void {
    return this.changes.on('schedule_work', () => listener());
  }
}

async function replanOne(trx: Transaction<Schema>, plan: Parameters<ScheduleRuns['replan']>[0]): Promise<boolean> {
  const { rows } = await sql<Parameters<typeof toDue>[0] & { now: Date }>`
    select ${dueColumns}, clock_timestamp() as now from schedules s
    where s.next_run_at is not null and s.planned_at > clock_timestamp() + ${jumpMs} * interval '1 millisecond' and ${hasAgent}
    order by s.planned_at desc limit 1 for no key update of s skip locked
  `.execute(trx);
  const [row] = rows;
  if (row === undefined) return false;
  const { rows: runs } = await sql<{ scheduled_for: Date }>`
    select scheduled_for from schedule_runs
    where schedule_id = ${row.id} and not manual and scheduled_for > ${row.now}
  `.execute(trx);
  const taken = new Set(runs.map(({ scheduled_for: at }) => at.getTime()));
  const { anchor, next } = plan(toDue(row), row.now, taken);
  await sql`
    update schedules set anchor = ${anchor}, next_run_at = ${next}, planned_at = clock_timestamp() where id = ${row.id}
  `.execute(trx);
  return true;
}
