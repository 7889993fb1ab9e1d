/**
 * Makes runs of due schedules. In one transaction a schedule gets a row for its time and moves to the next one. A time is
 * therefore neither lost nor taken twice, whoever dies and however many processes look. Only the database is asked for the
 * time.
 */
import { firingOf, jitterMs, timeAgain } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import type { Database, Transaction } from '@lodge/store/database';
import { appendEvents } from '@lodge/store/events';
import { crowd, lockAhead, lockDue, makeRuns, moveSchedule, timesTaken, writePassed } from '@lodge/store/schedules';
import type { DueSchedule, PassedTime } from '@lodge/store/schedules';
import { Periodic } from '../periodic.ts';
import type { ScheduleBounds } from './bounds.ts';
import { timingOf } from './timing.ts';

export interface FiringDeps {
  readonly database: Database;
  readonly bounds: Pick<ScheduleBounds, 'fired' | 'replanEveryMs'>;
  readonly lookEveryMs: number;
  readonly log: Log;
}

const maxReplanned = 1_000;

export const createFiring = ({ database, bounds, lookEveryMs, log }: FiringDeps): readonly Periodic[] => [
  new Periodic({
    everyMs: lookEveryMs,
    log,
    failed: 'due schedules were not looked for',
    round: () => fire(database, bounds.fired),
  }),
  new Periodic({
    everyMs: bounds.replanEveryMs,
    log,
    failed: 'schedules were not looked at for a clock that went back',
    round: () => replan(database),
  }),
];

/** Makes runs of at most `limit` due schedules and returns their number. */
export async function fire(database: Database, limit: number): Promise<number> {
  let fired = 0;
  while (fired < limit) {
    const more = await database.transaction((trx) => fireAgent(trx, limit - fired));
    if (more === 0) break;
    fired += more;
  }
  return fired;
}

/** Replans schedules that were planned before the clock went back, and returns their number. */
export async function replan(database: Database): Promise<number> {
  let replanned = 0;
  while (replanned < maxReplanned && (await database.transaction(replanOne))) replanned += 1;
  return replanned;
}

async function fireAgent(trx: Transaction, limit: number): Promise<number> {
  const due = await lockDue(trx, limit);
  if (due.length === 0) return 0;
  const { now, agents } = await crowd(trx);
  const planned = due.map((schedule) => ({
    ...schedule,
    ...firingOf(timingOf(schedule), schedule.due, now),
    jitterMs: jitterMs(schedule.agentId, agents),
  }));
  const made = await makeRuns(trx, planned);
  const passed = planned.flatMap((each) => passedTimes(each, now, made.has(each.id)));
  const written = await writePassed(trx, passed);
  const names = new Map(due.map(({ id, name }) => [id, name]));
  await appendEvents(
    trx,
    passed.flatMap(({ scheduleId: schedule_id, at, status, reason, accountId, agentId }) => {
      const run = written.find((row) => row.scheduleId === schedule_id && row.scheduledFor.getTime() === at.getTime());
      if (run === undefined) return [];
      const which = { schedule_id, name: names.get(schedule_id)!, run_id: run.id, scheduled_for: at.toISOString() };
      return [{ type: 'schedule.missed' as const, data: { ...which, status, reason }, accountId, agentId, by: null }];
    }),
  );
  return due.length;
}

const overlap = 'The run before was not over yet.';

const missedWords = (from: Date, to: Date): string =>
  `Times from ${from.toISOString()} to ${to.toISOString()} passed while nobody could look; one run stands for them.`;

/** A time that comes before the last run is over is skipped, and those in a downtime are missed. */
function passedTimes(
  { id: scheduleId, agentId, accountId, scheduledFor, missedFrom }: DueSchedule & ReturnType<typeof firingOf>,
  now: Date,
  isMade: boolean,
): readonly PassedTime[] {
  const of = { scheduleId, agentId, accountId };
  const missed =
    missedFrom && ({ ...of, at: missedFrom, status: 'missed', reason: missedWords(missedFrom, now) } as const);
  return [
    ...(isMade ? [] : [{ ...of, at: scheduledFor, status: 'skipped', reason: overlap } as const]),
    ...(missed ? [missed] : []),
  ];
}

async function replanOne(trx: Transaction): Promise<boolean> {
  const due = await lockAhead(trx);
  if (due === undefined) return false;
  const next = timeAgain(timingOf(due), due.now, await timesTaken(trx, due.id, due.now));
  await moveSchedule(trx, due.id, { anchor: due.every === null ? due.anchor : due.now, next });
  return true;
}
