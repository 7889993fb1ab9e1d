import type { TidyBounds } from '@lodge/ports';
import { sql } from 'kysely';
import { tidyWork } from '../work/tidy.ts';
import type { ExpireOne } from '../work/tidy.ts';
import type { Database } from '../database/connection.ts';
import { appendEvents } from '../events/append.ts';

interface Expired {
  readonly id: string;
  readonly schedule_id: string;
  readonly agent_id: string;
  readonly account_id: string;
  readonly scheduled_for: Date;
  readonly name: string;
}

/** Marks runs that waited in vain as missed. */
export function tidyRuns(database: Database, bounds: TidyBounds): Promise<void> {
  const reason = `The run could not begin within ${Math.round(bounds.maxWaitMs / 3_600_000)} hours.`;
  const of = { kind: 'run', owners: 'schedules', ownerId: 'schedule_id', expireOne: missOne(reason) } as const;
  return tidyWork(database, of, bounds);
}

const missOne =
  (reason: string): ExpireOne =>
  async (trx, vain) => {
    const { rows } = await sql<Expired>`
      with ${vain}
      update schedule_runs r set status = 'missed', ended_at = clock_timestamp(), error = ${reason}
      from ended w, schedules s where r.id = w.id and s.id = r.schedule_id
      returning r.id, r.schedule_id, r.agent_id, r.account_id, r.scheduled_for, s.name
    `.execute(trx);
    const [run] = rows;
    if (run === undefined) return false;
    const data = {
      schedule_id: run.schedule_id,
      name: run.name,
      run_id: run.id,
      scheduled_for: run.scheduled_for.toISOString(),
      status: 'missed',
      reason,
    } as const;
    const of = { accountId: run.account_id, agentId: run.agent_id, by: null };
    await appendEvents(trx, [{ type: 'schedule.missed', data, ...of }]);
    return true;
  };
