/** Plans schedules: checks what their owners give, and adds the next time. */
import { Refusal, cronTrouble, everyMsOf, isZoneName } from '@lodge/domain';
import { noDelivery } from '@lodge/ports';
import type { Delivery } from '@lodge/ports';
import type { NewScheduleRow, ScheduleRow } from '@lodge/store/schedules';
import { deliverColumns } from '../channels/deliver-columns.ts';
import { nextRunAt } from './timing.ts';

/** A schedule as its owner gives it; omitted fields stay as they are, or get their defaults. */
export interface ScheduleInput {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly cron?: string;
  /** An interval, such as `15m`. */
  readonly every?: string;
  readonly at?: Date;
  readonly timeZone?: string;
  readonly prompt?: string;
  /** The agent's conversation; null for one of the schedule's own. */
  readonly conversation?: string | null;
  /** The destination of its runs' answers. */
  readonly deliver?: Delivery;
  /** False leaves a sleeping agent asleep and skips the time. */
  readonly wake?: boolean;
}

/** A new schedule needs these fields. */
export type NewSchedule = ScheduleInput & { readonly name: string; readonly prompt: string };

type Timing = Pick<ScheduleRow, 'cron' | 'every' | 'at'>;
type Settings = Omit<NewScheduleRow, 'id' | 'accountId' | 'agentId'>;
type Changes = Partial<ScheduleRow>;

const defaults = { enabled: true, timeZone: 'UTC', conversation: null, ...deliverColumns(noDelivery), wake: true };

export function planNew(input: NewSchedule, now: Date): Settings {
  const timing = timingIn(input);
  if (timing === null) throw new Refusal('invalid_request', 'One of cron, every and at is required.');
  const settings = { ...defaults, ...given(input), name: input.name, prompt: input.prompt, ...timing };
  return { ...settings, ...planned(settings, input, now) };
}

export function planChange(row: ScheduleRow, input: ScheduleInput, now: Date): Changes {
  const timing = timingIn(input);
  const changes = { ...given(input), ...timing };
  const isTimed = timing !== null || input.timeZone !== undefined;
  // A change that does not concern its times does not move them.
  const isPlanned = isTimed || (input.enabled ?? row.enabled) !== row.enabled;
  return { ...changes, ...(isPlanned && planned({ ...row, ...changes }, input, now)) };
}

/** Whether answers are to go elsewhere than now. */
export const isMoved = (row: ScheduleRow, { to, channel, conversation }: Delivery): boolean =>
  row.deliverTo !== to || row.deliverChannel !== channel || row.deliverConversation !== conversation;

type Timed = Timing & Pick<ScheduleRow, 'enabled' | 'timeZone'>;

/** Checks the settings, and returns the times that follow from them from now on. */
function planned(
  settings: Timed,
  input: ScheduleInput,
  anchor: Date,
): { readonly anchor: Date; readonly nextRunAt: Date | null } {
  const { cron, every, timeZone } = settings;
  if (!isZoneName(timeZone)) throw wrong('time_zone', 'must be a time zone such as Europe/Berlin');
  const trouble = cron === null ? null : cronTrouble(cron, anchor);
  if (trouble !== null) throw wrong('cron', trouble);
  if (every !== null && everyMsOf(every) === null) {
    throw wrong('every', 'must be minutes, hours or days such as 15m, 2h or 1d, from 1m to 366d');
  }
  if (input.at !== undefined && input.at <= anchor) throw wrong('at', 'is in the past');
  return { anchor, nextRunAt: nextRunAt({ ...settings, anchor }, anchor) };
}

const wrong = (field: string, what: string): Refusal => new Refusal('invalid_request', `${field} ${what}.`);

/** Returns the given timing; null: none. */
function timingIn({ cron, every, at }: ScheduleInput): Timing | null {
  const count = [cron, every, at].filter((each) => each !== undefined).length;
  if (count > 1) throw new Refusal('invalid_request', 'Only one of cron, every and at can be given.');
  return count === 0 ? null : { cron: cron?.trim() ?? null, every: every ?? null, at: at ?? null };
}

/** Returns the columns of the given fields, without the timing. */
function given({ cron: _cron, every: _every, at: _at, deliver, ...input }: ScheduleInput): Changes {
  const columns = { ...input, ...(deliver && deliverColumns(deliver)) };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}
