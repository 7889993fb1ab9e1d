/**
 * The owners' use-cases for the schedules of their agents, in every state of the agent. Each refuses with `agent_not_found`
 * where the account has no such agent, and with `schedule_not_found` where the agent has no such schedule.
 */
import { Refusal, maxSchedules } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import { databaseTime, notify } from '@lodge/store/database';
import type { Database, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import {
  countSchedules,
  deleteSchedule,
  findSchedule,
  insertRequestedRun,
  insertSchedule,
  lockSchedule,
  scheduleRuns,
  schedulesOf,
  skipWaitingRun,
  updateSchedule,
} from '@lodge/store/schedules';
import type { SchedulePlace, ScheduleRow, ScheduleRunRow } from '@lodge/store/schedules';
import type { Agents } from '../agents/agents.ts';
import { lockOwnAgent } from '../agents/lock.ts';
import { checkDelivery } from '../channels/conversations.ts';
import type { ScheduleBounds } from './bounds.ts';
import { isMoved, planChange, planNew } from './plans.ts';
import type { NewSchedule, ScheduleInput } from './plans.ts';

export interface SchedulesDeps {
  readonly database: Database;
  readonly agents: Pick<Agents, 'get'>;
}

/** Dependencies of the loop, beside the engine's own. */
export interface ScheduleParts {
  readonly bounds?: Partial<ScheduleBounds>;
}

export type Schedules = ReturnType<typeof createSchedules>;

export function createSchedules({ database, agents }: SchedulesDeps) {
  return {
    ...createReads({ database, agents }),
    /** Creates a schedule with this id. Refuses with `invalid_request` and the field, or with `quota_exceeded`. */
    async create(place: SchedulePlace, input: NewSchedule, note?: ActorNote): Promise<ScheduleRow> {
      const { accountId, agentId, scheduleId: id } = place;
      await agents.get(accountId, agentId);
      return database.transaction(async (trx) => {
        await lockOwnAgent(trx, place);
        const { count, now } = await countSchedules(trx, agentId);
        if (count >= maxSchedules) {
          throw new Refusal('quota_exceeded', `An agent may have ${maxSchedules} schedules.`);
        }
        const settings = planNew(input, now);
        if (input.deliver) await checkDelivery(trx, place, input.deliver);
        const made = await insertSchedule(trx, { ...settings, id, agentId, accountId });
        await notify(trx, agentId, 'work');
        await writeNote(trx, place, { type: 'schedule.created', data: { schedule_id: id, name: made.name } }, note);
        return made;
      });
    },
    /**
     * Changes a schedule. Disabling it ends its waiting run, and an unchanged delivery is not checked again. Refuses with
     * `invalid_request` and the field.
     */
    async update(place: SchedulePlace, input: ScheduleInput, note?: ActorNote): Promise<ScheduleRow> {
      await agents.get(place.accountId, place.agentId);
      return database.transaction(async (trx) => {
        const row = await locked(trx, place);
        const changes = planChange(row, input, await databaseTime(trx));
        if (input.deliver && isMoved(row, input.deliver)) await checkDelivery(trx, place, input.deliver);
        if (!(input.enabled ?? row.enabled)) await skipWaitingRun(trx, row.id, disabled);
        const changed = await updateSchedule(trx, row.id, changes);
        await notify(trx, place.agentId, 'work');
        const data = { schedule_id: row.id, name: changed.name };
        await writeNote(trx, place, { type: 'schedule.updated', data }, note);
        return changed;
      });
    },
    /** Removes a schedule; its current run ends. */
    async remove(place: SchedulePlace, note?: ActorNote): Promise<void> {
      await agents.get(place.accountId, place.agentId);
      await database.transaction(async (trx) => {
        const { id, name } = await locked(trx, place);
        await deleteSchedule(trx, id);
        await notify(trx, place.agentId, 'work');
        await writeNote(trx, place, { type: 'schedule.deleted', data: { schedule_id: id, name } }, note);
      });
    },
    /** Begins a run with this id, at once, enabled or not. Refuses with `schedule_running`. */
    async run(place: SchedulePlace, runId: string, note?: ActorNote): Promise<ScheduleRunRow> {
      await agents.get(place.accountId, place.agentId);
      return database.transaction(async (trx) => {
        const { id, name } = await locked(trx, place);
        const run = await insertRequestedRun(trx, place, runId);
        if (run === undefined) throw new Refusal('schedule_running', underWay);
        const data = { schedule_id: id, name, run_id: runId };
        await writeNote(trx, place, { type: 'schedule.run_asked', data }, note);
        return run;
      });
    },
  };
}

const disabled = 'The schedule was disabled before the run began.';
const underWay = 'A run of this schedule waits or is under way. Try again once it is over.';

const createReads = ({ database, agents }: SchedulesDeps) => ({
  /** Oldest first. */
  async list(accountId: string, agentId: string): Promise<readonly ScheduleRow[]> {
    await agents.get(accountId, agentId);
    return database.repeatable((db) => schedulesOf(db, accountId, agentId));
  },
  async get(place: SchedulePlace): Promise<ScheduleRow> {
    await agents.get(place.accountId, place.agentId);
    const row = await database.repeatable((db) => findSchedule(db, place));
    if (row === undefined) throw notFound();
    return row;
  },
  /** Newest first. */
  async runs(
    place: SchedulePlace,
    page: { readonly before?: string; readonly limit: number },
  ): Promise<readonly ScheduleRunRow[]> {
    await agents.get(place.accountId, place.agentId);
    return database.repeatable(async (db) => {
      if ((await findSchedule(db, place)) === undefined) throw notFound();
      return scheduleRuns(db, place, page);
    });
  },
});

const notFound = (): Refusal => new Refusal('schedule_not_found', 'The agent has no such schedule.');

async function locked(trx: Transaction, place: SchedulePlace): Promise<ScheduleRow> {
  const row = await lockSchedule(trx, place);
  if (row === undefined) throw notFound();
  return row;
}
