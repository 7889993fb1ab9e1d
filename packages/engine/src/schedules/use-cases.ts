import { Refusal, cronTrouble, everyMsOf, isZoneName, maxSchedules } from '@lodge/domain';
import { noDelivery } from '@lodge/ports';
import type { PlannedSettings, SchedulePlace, ScheduleRow, ScheduleSettings } from '@lodge/ports';
import { deliverable } from '../channels/not-found.ts';
import type { SchedulesDeps } from './deps.ts';
import type { NewSchedule, ScheduleInput, Schedules } from './schedules.ts';
import { nextRunAt } from './timing.ts';

/** The use-cases of owners over their ports. */
export function createSchedules(deps: SchedulesDeps): Schedules {
  const { store, agents } = deps;
  return {
    async list(accountId, agentId) {
      await agents.get(accountId, agentId);
      return store.list(accountId, agentId);
    },
    get: (place) => get(deps, place),
    async create(place, input, note) {
      await agents.get(place.accountId, place.agentId);
      const made = await store.create(place, (now) => planNew(input, now), maxSchedules, note);
      if (made === 'full') throw new Refusal('quota_exceeded', `An agent may have ${maxSchedules} schedules.`);
      if (made === 'no_agent') throw new Refusal('agent_not_found', 'No agent has this id.');
      return deliverable(made);
    },
    async update(place, input, note) {
      await agents.get(place.accountId, place.agentId);
      const changed = await store.update(place, (row, now) => planChange(row, input, now), note);
      if (changed === null) throw notFound();
      return deliverable(changed);
    },
    async remove(place, note) {
      await agents.get(place.accountId, place.agentId);
      if (!(await store.remove(place, note))) throw notFound();
    },
    async run(place, runId, note) {
      await agents.get(place.accountId, place.agentId);
      const run = await store.ask(place, runId, note);
      if (run === null) throw notFound();
      if (run !== 'running') return run;
      throw new Refusal('schedule_running', 'A run of this schedule waits or is under way. Try again once it is over.');
    },
    async runs(place, page) {
      await get(deps, place);
      return store.runs(place, page);
    },
  };
}

const notFound = (): Refusal => new Refusal('schedule_not_found', 'The agent has no such schedule.');

async function get({ store, agents }: SchedulesDeps, place: SchedulePlace): Promise<ScheduleRow> {
  await agents.get(place.accountId, place.agentId);
  const row = await store.find(place);
  if (row === null) throw notFound();
  return row;
}

const defaults = {
  enabled: true,
  timeZone: 'UTC',
  conversation: null,
  deliver: noDelivery,
  wake: true,
} as const;

function planNew(input: NewSchedule, now: Date): PlannedSettings {
  const timing = timingIn(input);
  if (timing === null) throw new Refusal('invalid_request', 'One of cron, every and at is required.');
  return planned({ ...defaults, ...given(input), name: input.name, prompt: input.prompt, ...timing }, input, now);
}

function planChange(row: ScheduleRow, input: ScheduleInput, now: Date): PlannedSettings {
  const timing = timingIn(input);
  const settings: ScheduleSettings = { ...row, ...given(input), ...timing };
  const isTimed = timing !== null || input.timeZone !== undefined;
  // A change that does not concern its times does not move them.
  if (!isTimed && settings.enabled === row.enabled) {
    return { ...settings, anchor: row.anchor, nextRunAt: row.nextRunAt };
  }
  return planned(settings, input, now);
}

/** Checks the settings and adds the next time from now on. */
function planned(settings: ScheduleSettings, input: ScheduleInput, now: Date): PlannedSettings {
  const { cron, every, timeZone } = settings;
  if (!isZoneName(timeZone)) throw wrong('time_zone', 'must be a time zone such as Europe/Berlin');
  const trouble = cron === null ? null : cronTrouble(cron, now);
  if (trouble !== null) throw wrong('cron', trouble);
  if (every !== null && everyMsOf(every) === null) {
    throw wrong('every', 'must be minutes, hours or days such as 15m, 2h or 1d, from 1m to 366d');
  }
  if (input.at !== undefined && input.at <= now) throw wrong('at', 'is in the past');
  const timed = { ...settings, anchor: now };
  return { ...timed, nextRunAt: nextRunAt(timed, now) };
}

const wrong = (field: string, what: string): Refusal => new Refusal('invalid_request', `${field} ${what}.`);

/** Returns the given timing; null: none. */
function timingIn({ cron, every, at }: ScheduleInput): Pick<ScheduleSettings, 'cron' | 'every' | 'at'> | null {
  const count = [cron, every, at].filter((each) => each !== undefined).length;
  if (count > 1) throw new Refusal('invalid_request', 'Only one of cron, every and at can be given.');
  return count === 0 ? null : { cron: cron?.trim() ?? null, every: every ?? null, at: at ?? null };
}

/** Returns the input without the timing and without omitted fields. */
function given({ cron: _cron, every: _every, at: _at, ...input }: ScheduleInput): Partial<ScheduleSettings> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
