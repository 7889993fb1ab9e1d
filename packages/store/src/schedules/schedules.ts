import type {
  ActorNote,
  PlannedSettings,
  SchedulePlace,
  ScheduleRow,
  ScheduleRun,
  ScheduleStore,
  Unsayable,
} from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { lockAgent } from '../agents/lock.ts';
import { whyUndeliverable } from '../channels/deliver.ts';
import { storable } from '../channels/text.ts';
import type { Database } from '../database/connection.ts';
import type { Schema } from '../database/schema.ts';
import { writeNote } from '../events/change-note.ts';
import { notify } from '../database/notifications.ts';
import { putWork } from '../work/work.ts';
import { isPlace, lockSchedule, selectRuns, selectSchedules, toColumns } from './rows.ts';

const disabled = 'The schedule was disabled before the run began.';

/** `ScheduleStore` in Postgres. */
export class PostgresScheduleStore implements ScheduleStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  list(accountId: string, agentId: string): Promise<readonly ScheduleRow[]> {
    return this.database.repeatable((db) =>
      selectSchedules(db, sql`s.agent_id = ${agentId} and s.account_id = ${accountId}`),
    );
  }

  async find(place: SchedulePlace): Promise<ScheduleRow | null> {
    const rows = await this.database.repeatable((db) => selectSchedules(db, isPlace(place)));
    return rows[0] ?? null;
  }

  create(
    place: SchedulePlace,
    plan: (now: Date) => PlannedSettings,
    most: number,
    note?: ActorNote,
  ): Promise<ScheduleRow | 'full' | 'no_agent' | Unsayable> {
    const { accountId, agentId, scheduleId: id } = place;
    return this.database.transaction(async (trx) => {
      // The lock serialises creates, so they are counted correctly.
      if ((await lockAgent(trx, agentId))?.accountId !== accountId) return 'no_agent';
      const { rows } = await sql<{ n: number; now: Date }>`
        select count(*)::int as n, clock_timestamp() as now from schedules where agent_id = ${agentId}
      `.execute(trx);
      const { n, now } = rows[0]!;
      if (n >= most) return 'full';
      const planned = plan(now);
      const unsayable = await whyUndeliverable(trx, place, planned.deliver);
      if (unsayable !== null) return unsayable;
      const values = { id, agent_id: agentId, account_id: accountId, ...toColumns(planned) };
      await trx.insertInto('schedules').values(values).execute();
      await notify(trx, agentId, 'schedule_work');
      const data = { schedule_id: id, name: planned.name };
      const made = (await selectSchedules(trx, isPlace(place)))[0]!;
      await writeNote(trx, { accountId, agentId }, { type: 'schedule.created', data }, note);
      return made;
    });
  }

  update(
    place: SchedulePlace,
    plan: (row: ScheduleRow, now: Date) => PlannedSettings,
    note?: ActorNote,
  ): Promise<ScheduleRow | Unsayable | null> {
    return this.database.transaction(async (trx) => {
      const before = await lockSchedule(trx, place);
      if (before === null) return null;
      const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(trx);
      const planned = plan(before, rows[0]!.now);
      const { to, channel, conversation } = before.deliver;
      const { deliver } = planned;
      const moved = deliver.to !== to || deliver.channel !== channel || deliver.conversation !== conversation;
      const unsayable = moved ? await whyUndeliverable(trx, place, planned.deliver) : null;
      if (unsayable !== null) return unsayable;
      await trx
        .updateTable('schedules')
        .set({ ...toColumns(planned), updated_at: sql<Date>`clock_timestamp()` })
        .where('id', '=', before.id)
        .execute();
      if (!planned.enabled) await endWaiting(trx, before.id);
      await notify(trx, place.agentId, 'schedule_work');
      const after = (await selectSchedules(trx, isPlace(place)))[0]!;
      const data = { schedule_id: before.id, name: planned.name };
      await writeNote(trx, place, { type: 'schedule.updated', data }, note);
      return after;
    });
  }

  remove(place: SchedulePlace, note?: ActorNote): Promise<boolean> {
    return this.database.transaction(async (trx) => {
      const row = await lockSchedule(trx, place);
      if (row === null) return false;
      await trx.deleteFrom('schedules').where('id', '=', row.id).execute();
      await notify(trx, place.agentId, 'schedule_work');
      const data = { schedule_id: row.id, name: row.name };
      await writeNote(trx, place, { type: 'schedule.deleted', data }, note);
      return true;
    });
  }

  ask(place: SchedulePlace, runId: string, note?: ActorNote): Promise<ScheduleRun | 'running' | null> {
    return this.database.transaction(async (trx) => {
      const row = await lockSchedule(trx, place);
      if (row === null) return null;
      const { accountId, agentId } = place;
      const { numAffectedRows } = await sql`
        with made as (
          insert into schedule_runs (id, schedule_id, agent_id, account_id, scheduled_for, manual)
          select ${runId}, ${row.id}, ${agentId}, ${accountId}, now, true from clock_timestamp() now
          on conflict (schedule_id) where status is null do nothing
          returning id, seq, account_id, agent_id, scheduled_for as due_at
        )
        ${putWork('run')}
      `.execute(trx);
      if (numAffectedRows !== 1n) return 'running';
      await notify(trx, agentId, 'schedule_work');
      const [run] = await selectRuns(trx, sql`r.id = ${runId}`);
      const data = { schedule_id: row.id, name: row.name, run_id: runId };
      await writeNote(trx, place, { type: 'schedule.run_asked', data }, note);
      return run!;
    });
  }

  runs(
    { scheduleId, agentId, accountId }: SchedulePlace,
    { before, limit }: { readonly before?: string; readonly limit: number },
  ): Promise<readonly ScheduleRun[]> {
    const of = sql`r.schedule_id = ${storable(scheduleId)} and r.agent_id = ${agentId} and r.account_id = ${accountId}`;
    const from =
      before === undefined
        ? sql``
        : sql`and r.seq < (select b.seq from schedule_runs b where b.id = ${before} and b.schedule_id = r.schedule_id)`;
    return this.database.repeatable((db) => selectRuns(db, sql`${of} ${from} order by r.seq desc limit ${limit}`));
  }
}

/** Ends the waiting run. A requested run is none of the schedule's times. */
async function endWaiting(trx: Transaction<Schema>, scheduleId: string): Promise<void> {
  await sql`
    with locked as materialized (
      select id from schedule_runs where schedule_id = ${scheduleId} and status is null and not manual for no key update
    ), ended as (
      delete from work w using locked where w.kind = 'run' and w.id = locked.id and w.claim_holder is null returning w.*
    )
    update schedule_runs r set status = 'skipped', error = ${disabled}, ended_at = clock_timestamp(), attempts = w.attempts,
      started_at = w.started_at
    from ended w where r.id = w.id
  `.execute(trx);
}
