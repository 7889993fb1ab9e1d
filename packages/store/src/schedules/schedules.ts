/** Schedules. All that read leave out those of agents that are being deleted. */
import { sql } from 'kysely';
import type { Insertable, Selectable, Updateable } from 'kysely';
import { storable } from '../channels/text.ts';
import type { Queries, Transaction } from '../database/database.ts';
import type { Schedules } from '../database/tables.ts';
import { lastRun, runOfJson } from './owned-runs.ts';
import type { RunJson, SchedulePlace, ScheduleRunRow } from './owned-runs.ts';

export interface ScheduleRow extends Selectable<Schedules> {
  /** The newest run that is not `missed`, or null. */
  readonly lastRun: ScheduleRunRow | null;
}

export type NewScheduleRow = Insertable<Schedules>;

const live = (db: Queries) =>
  db
    .selectFrom('schedules')
    .selectAll('schedules')
    .select(lastRun.as('lastRun'))
    .where((eb) =>
      eb.exists(
        eb.selectFrom('agents').whereRef('agents.id', '=', 'schedules.agentId').where('agents.desired', '=', 'running'),
      ),
    );

const toRow = <Found extends { readonly lastRun: RunJson | null }>(found: Found) => ({
  ...found,
  lastRun: found.lastRun && runOfJson(found.lastRun),
});

/** Returns the agent's schedules, oldest first. */
export async function schedulesOf(db: Queries, accountId: string, agentId: string): Promise<readonly ScheduleRow[]> {
  const found = await live(db)
    .where('schedules.agentId', '=', agentId)
    .where('schedules.accountId', '=', accountId)
    .orderBy('schedules.seq')
    .execute();
  return found.map(toRow);
}

export async function findSchedule(
  db: Queries,
  { accountId, agentId, scheduleId }: SchedulePlace,
): Promise<ScheduleRow | undefined> {
  const found = await live(db)
    .where('schedules.id', '=', storable(scheduleId))
    .where('schedules.agentId', '=', agentId)
    .where('schedules.accountId', '=', accountId)
    .executeTakeFirst();
  return found && toRow(found);
}

/** Locks the schedule until the transaction ends. It is read once its writers are done. */
export async function lockSchedule(trx: Transaction, place: SchedulePlace): Promise<ScheduleRow | undefined> {
  await trx
    .selectFrom('schedules')
    .select('id')
    .where('id', '=', storable(place.scheduleId))
    .where('agentId', '=', place.agentId)
    .where('accountId', '=', place.accountId)
    .forNoKeyUpdate()
    .execute();
  return findSchedule(trx, place);
}

/** Counts the agent's schedules, and returns the database's time, by which schedules are planned. */
export async function countSchedules(
  trx: Transaction,
  agentId: string,
): Promise<{ readonly count: number; readonly now: Date }> {
  const { rows } = await sql<{ count: number; now: Date }>`
    select count(*)::int as count, clock_timestamp() as now from schedules where agent_id = ${agentId}
  `.execute(trx);
  return rows[0]!;
}

export async function insertSchedule(trx: Transaction, schedule: NewScheduleRow): Promise<ScheduleRow> {
  const made = await trx.insertInto('schedules').values(schedule).returningAll().executeTakeFirstOrThrow();
  return { ...made, lastRun: null };
}

/** Creates schedules that nobody waits for. */
export async function insertSchedules(trx: Transaction, schedules: readonly NewScheduleRow[]): Promise<void> {
  if (schedules.length > 0) await trx.insertInto('schedules').values(schedules).execute();
}

/** Writes settings with the times that were planned from them just now, and returns the schedule. */
export async function updateSchedule(
  trx: Transaction,
  id: string,
  settings: Updateable<Schedules>,
): Promise<ScheduleRow> {
  const now = sql<Date>`clock_timestamp()`;
  const changed = await trx
    .updateTable('schedules')
    .set({ ...settings, plannedAt: now, updatedAt: now })
    .where('id', '=', id)
    .returningAll()
    .returning(lastRun.as('lastRun'))
    .executeTakeFirstOrThrow();
  return toRow(changed);
}

/** Deletes the schedule with its runs, and ends one in progress. */
export async function deleteSchedule(trx: Transaction, id: string): Promise<void> {
  await trx.deleteFrom('schedules').where('id', '=', id).execute();
}
