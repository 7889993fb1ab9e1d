/** Ends what waited in vain, and deletes old runs in steps short enough that no writer waits long. */
import type { TidyBounds } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database } from '../database/connection.ts';
import { appendEvents } from '../events/append.ts';

const step = 1_000;
const maxExpired = 1_000;

interface Expired {
  readonly id: string;
  readonly schedule_id: string;
  readonly agent_id: string;
  readonly account_id: string;
  readonly scheduled_for: Date;
  readonly name: string;
}

const expiredWords = (maxWaitMs: number): string =>
  `The run could not begin within ${Math.round(maxWaitMs / 3_600_000)} hours.`;

export async function tidyRuns(database: Database, { maxWaitMs, kept, maxAgeMs }: TidyBounds): Promise<void> {
  for (let n = 0; n < maxExpired && (await expireOne(database, maxWaitMs)); n += 1);
  const steps: readonly RawBuilder<unknown>[] = [
    sql`
      delete from schedule_runs where id in (
        select id from schedule_runs where ended_at < clock_timestamp() - ${maxAgeMs} * interval '1 millisecond'
        order by ended_at limit ${step}
      )
    `,
    sql`
      delete from schedule_runs where id in (
        select old.id from schedules s, lateral (
          select r.id from schedule_runs r where r.schedule_id = s.id and r.status is not null order by r.seq desc offset ${kept} limit ${step}
        ) old limit ${step}
      )
    `,
  ];
  for (const statement of steps) {
    for (let pruned = step; pruned === step;) {
      const { numAffectedRows } = await database.repeatable((db) => statement.execute(db));
      pruned = Number(numAffectedRows ?? 0n);
    }
  }
}

/** One in a transaction: its event takes its turn among those of the account. */
function expireOne(database: Database, maxWaitMs: number): Promise<boolean> {
  const reason = expiredWords(maxWaitMs);
  return database.transaction(async (trx) => {
    const { rows } = await sql<Expired>`
      update schedule_runs r set status = 'missed', ended_at = clock_timestamp(), error = ${reason}
      from schedules s
      where s.id = r.schedule_id and r.id = (
        select w.id from schedule_runs w
        where w.status is null and w.attempts = 0 and w.claim_until is null
          and w.due_at < clock_timestamp() - ${maxWaitMs} * interval '1 millisecond'
        order by w.due_at limit 1 for no key update skip locked
      )
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
  });
}
