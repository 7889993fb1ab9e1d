/**
 * kill -9 of what makes runs of schedules, while very many are due in one second. The guarantee: each schedule's time has one run;
 * each run comes to one end, told once; an agent is told its prompt no more often than the run says, and a further time with the
 * word that it may have acted; where a run is not `ok`, its reason is there.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { formOf } from '@lodge/testkit/forms';
import { ClaimsWorld } from './storm/claims-world.ts';
import { describeStorm } from './storm/storm.ts';

const agents = 50;
/** `processes` make runs beside one another. */
const { schedules, kills, processes, answerMs } = formOf({
  short: { schedules: 400, kills: 5, processes: 1, answerMs: 60 },
  long: { schedules: 1_000, kills: 10, processes: 2, answerMs: 400 },
});

let world: ClaimsWorld;

describeStorm({
  name: `${schedules} schedules due at once over ${agents} agents, ${kills} kills`,
  kills,
  pauseMs: formOf({ short: [350, 1_050], long: [1_250, 3_750] }),
  withinMs: formOf({ short: 4, long: 10 }) * 60_000,
  async open() {
    world = await ClaimsWorld.open({ of: 'schedules', answerMs, subjectOf: (conversation) => conversation });
    const kill = (n: number): Promise<void> => world.workers.replace(n % processes);
    return { begin, kill, open: whatIsOpen, count, close: () => world.close() };
  },
});

async function begin(): Promise<void> {
  for (let n = 0; n < processes; n += 1) await world.workers.start(n);
  await makeSchedules();
  // By then they are due.
  await sleep(2_000);
}

/** All due in the same second, a moment from now. */
async function makeSchedules(): Promise<void> {
  const ids = await world.makeAgents(agents);
  await world.query(
    `insert into schedules (id, agent_id, account_id, name, enabled, cron, time_zone, anchor, prompt, deliver_to, wake, next_run_at)
     select 's' || n, (array[${ids.map((id) => `'${id}'`).join()}])[1 + n % ${agents}], 'a', 'S' || n, true, '0 0 1 1 *', 'UTC', now(), 'x', 'none',
       true, date_trunc('second', clock_timestamp() + interval '2 seconds')
     from generate_series(1, ${schedules}) n`,
  );
}

async function whatIsOpen(): Promise<string | null> {
  const [row] = await world.query<{ all: number; open: number }>(
    `select count(*)::int as all, (count(*) filter (where status is null))::int as open from schedule_runs`,
  );
  const { all, open } = row!;
  return all === schedules && open === 0 ? null : `${all} of ${schedules} have a run, ${open} are not over`;
}

interface RunRow {
  readonly schedule_id: string;
  readonly status: string;
  readonly attempts: number;
  readonly error: string | null;
}

async function count(): Promise<readonly string[]> {
  const runs = await world.query<RunRow>('select schedule_id, status, attempts, error from schedule_runs');
  assert.equal(new Set(runs.map(({ schedule_id }) => schedule_id)).size, schedules, 'a time has two runs');
  const repeated: string[] = [];
  for (const { schedule_id, status, attempts, error: reason } of runs) {
    const subject = `schedule:${schedule_id}`;
    world.checkTold(subject, { status, attempts, reason }, { success: 'ok', times: 4 });
    if ((world.told.get(subject) ?? []).length > 1) repeated.push(subject);
  }
  const events = await world.query<{ n: number; of: number }>(
    `select count(*)::int as n, count(distinct data->>'schedule_id')::int as of from events
   where type in ('schedule.ran', 'schedule.failed', 'schedule.missed')`,
  );
  assert.deepEqual(events, [{ n: schedules, of: schedules }], 'an end is told once');
  // A kill cuts the running work of one process: an agent each, and no more than the process has at once.
  assert.ok(repeated.length <= kills * 16, `${repeated.length} were told more than once`);
  const ok = runs.filter(({ status }) => status === 'ok').length;
  return [`${ok} ok, ${runs.length - ok} with their reason, ${repeated.length} told more than once`];
}
