/** A schedule's times: as plain choices, as the API's fields, and in words. */
import type { Schedule } from '@lodge/sdk';
import { formatDateTime, formatDateTimeIn } from '../../../format.ts';
import { cronWords } from './cron-words.ts';

export const timeKinds = ['daily', 'weekdays', 'weekly', 'monthly', 'every', 'once', 'cron'] as const;
export type TimeKind = (typeof timeKinds)[number];
export type TimeName = 'time' | 'days' | 'month_day' | 'count' | 'at' | 'cron';

/** The values that the fields of the form begin with. */
export interface Times {
  readonly kind: TimeKind;
  readonly time: string;
  readonly days: readonly string[];
  readonly monthDay: string;
  readonly count: string;
  readonly unit: string;
  readonly at: string;
  readonly cron: string;
}

type Timing = Pick<Schedule, 'cron' | 'every' | 'at'>;

const fresh: Times = {
  kind: 'daily',
  time: '09:00',
  days: ['1'],
  monthDay: '1',
  count: '2',
  unit: 'h',
  at: '',
  cron: '0 9 * * 1-5',
};

const two = (value: number | string): string => String(value).padStart(2, '0');

/** A moment as an input of date and time has it, in this browser's zone. */
function localOf(iso: string): string {
  const at = new Date(iso);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The plain choice that a schedule was made by, where there is one. */
export function timesOf({ cron, every, at }: Timing): Times {
  if (at !== undefined) return { ...fresh, kind: 'once', at: localOf(at) };
  const [, count, unit] = /^(\d+)([mhd])$/.exec(every ?? '') ?? [];
  if (count !== undefined && unit !== undefined) return { ...fresh, kind: 'every', count, unit };
  if (cron === undefined) return fresh;
  const [, minute, hour, day, weekday] =
    /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|1-5|[0-6](?:,[0-6])*)$/.exec(cron) ?? [];
  const custom: Times = { ...fresh, kind: 'cron', cron };
  if (minute === undefined || hour === undefined || day === undefined || weekday === undefined) return custom;
  const plain = { ...custom, time: `${two(hour)}:${two(minute)}` };
  if (day !== '*') return weekday === '*' ? { ...plain, kind: 'monthly', monthDay: day } : custom;
  if (weekday === '*') return { ...plain, kind: 'daily' };
  return weekday === '1-5' ? { ...plain, kind: 'weekdays' } : { ...plain, kind: 'weekly', days: weekday.split(',') };
}

export const freshTimes = fresh;

const text = (data: FormData, name: string): string => {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
};

export function checkTimes(data: FormData): Partial<Record<TimeName, string>> {
  const kind = text(data, 'kind') as TimeKind;
  if (kind === 'every') {
    return /^[1-9]\d{0,5}$/.test(text(data, 'count').trim()) ? {} : { count: 'Enter a number from 1 on.' };
  }
  if (kind === 'once') {
    const at = Date.parse(text(data, 'at'));
    return Number.isNaN(at) || at <= Date.now() ? { at: 'Choose a time to come.' } : {};
  }
  if (kind === 'cron') {
    return cronWords(text(data, 'cron')) === null ? { cron: 'Enter five fields, such as 0 9 * * 1-5.' } : {};
  }
  if (!/^\d{2}:\d{2}$/.test(text(data, 'time').slice(0, 5))) return { time: 'Choose a time.' };
  if (kind === 'weekly' && data.getAll('days').length === 0) return { days: 'Choose a day.' };
  const day = text(data, 'month_day').trim();
  const isDay = /^\d{1,2}$/.test(day) && Number(day) >= 1 && Number(day) <= 31;
  return kind === 'monthly' && !isDay ? { month_day: 'Enter a day from 1 to 31.' } : {};
}

/** The form's choice as the API takes it. */
export function timingOf(data: FormData): Timing {
  const kind = text(data, 'kind') as TimeKind;
  if (kind === 'every') return { every: `${text(data, 'count').trim()}${text(data, 'unit')}` };
  if (kind === 'once') return { at: new Date(text(data, 'at')).toISOString() };
  if (kind === 'cron') return { cron: text(data, 'cron').trim() };
  const [hour = '0', minute = '0'] = text(data, 'time').split(':');
  const day = kind === 'monthly' ? Number(text(data, 'month_day')) : '*';
  const days = data.getAll('days').filter((one) => typeof one === 'string');
  const weekday = kind === 'weekdays' ? '1-5' : kind === 'weekly' ? days.join(',') : '*';
  return { cron: `${Number(minute)} ${Number(hour)} ${day} * ${weekday}` };
}

const units: Readonly<Record<string, string>> = { m: 'minute', h: 'hour', d: 'day' };

export function whenWords({ cron, every, at }: Timing): string {
  if (at !== undefined) return `Once, on ${formatDateTime(new Date(at))}`;
  if (cron !== undefined) return cronWords(cron) ?? cron;
  const [, count = '', unit = ''] = /^(\d+)([mhd])$/.exec(every ?? '') ?? [];
  const word = units[unit] ?? '';
  return count === '1' ? `Every ${word}` : `Every ${count} ${word}s`;
}

/** The viewer's own zone. */
export const hereZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** A moment in the schedule's zone, where it is another than the viewer's; null elsewhere. */
export function thereWords(iso: string, zone: string): string | null {
  if (zone === hereZone) return null;
  try {
    return `${formatDateTimeIn(new Date(iso), zone)} in ${zone}`;
  } catch {
    // The server knows zones that this browser does not.
    return null;
  }
}
