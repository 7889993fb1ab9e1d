import { randomInt } from 'node:crypto';
import { makeAgentId } from '@lodge/domain';
import { findSchedule, insertRequestedRun, insertSchedule, scheduleRuns, updateSchedule } from '../schedules/index.ts';
import type { NewScheduleRow, SchedulePlace, ScheduleRow, ScheduleRunRow } from '../schedules/index.ts';
import type { Store } from '../store.ts';

export const scheduleId = (): string => makeAgentId(randomInt);

type In = Pick<Store, 'database'>;
type Named = Pick<ScheduleRow, 'id' | 'agentId' | 'accountId'>;

export const placeOf = ({ id: scheduleId, agentId, accountId }: Named): SchedulePlace => ({
  accountId,
  agentId,
  scheduleId,
});

/** A schedule that is due, as its owner's use-case writes it, without an event. */
export const makeSchedule = (
  { database }: In,
  of: Pick<SchedulePlace, 'accountId' | 'agentId'>,
  given: Partial<NewScheduleRow> = {},
): Promise<ScheduleRow> =>
  database.transaction((trx) =>
    insertSchedule(trx, {
      id: scheduleId(),
      ...of,
      name: 'S',
      enabled: true,
      ...(given.every === undefined && given.at === undefined && { cron: '0 9 * * *' }),
      timeZone: 'UTC',
      prompt: 'Say hello.',
      deliverTo: 'none',
      wake: true,
      anchor: new Date('2026-01-01T00:00:00Z'),
      nextRunAt: new Date(Date.now() - 1_000),
      ...given,
    }),
  );

export const changeSchedule = (
  { database }: In,
  { id }: Named,
  changes: Partial<NewScheduleRow>,
): Promise<ScheduleRow> => database.transaction((trx) => updateSchedule(trx, id, changes));

export const readSchedule = ({ database }: In, row: Named): Promise<ScheduleRow | undefined> =>
  database.repeatable((db) => findSchedule(db, placeOf(row)));

export const requestRun = ({ database }: In, row: Named): Promise<ScheduleRunRow | undefined> =>
  database.transaction((trx) => insertRequestedRun(trx, placeOf(row), scheduleId()));

export const runsOf = ({ database }: In, row: Named): Promise<readonly ScheduleRunRow[]> =>
  database.repeatable((db) => scheduleRuns(db, placeOf(row), { limit: 100 }));
