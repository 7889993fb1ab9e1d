/** The field `snapshots` of an agent as its form has it. */
import { maxKeptSnapshots, maxSnapshotDays, maxSnapshotTurns } from '@lodge/contract/words';
import type { Agent, UpdateAgent } from '@lodge/sdk';

type Fields = Agent['snapshots'];
/** Texts as typed; an empty one of `turns` or `time` is none. */
export type Plan = { turns: string; time: string; keep: string; days: string };

const unitMinutes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };
const minMinutes = 5;
const maxMinutes = 366 * 1440;

const isNumber = (text: string, most: number): boolean => /^[1-9]\d{0,3}$/.test(text.trim()) && Number(text) <= most;

function isTime(text: string): boolean {
  const [, count, unit = ''] = /^([1-9]\d{0,6})([mhd])$/.exec(text.trim()) ?? [];
  const minutes = Number(count) * (unitMinutes[unit] ?? Number.NaN);
  return minutes >= minMinutes && minutes <= maxMinutes;
}

export const plan = {
  id: 'snapshots',
  name: 'Automatic snapshots',
  of: ({ snapshots: now }: Pick<Agent, 'snapshots'>): Plan => ({
    turns: now.every_turns === null ? '' : String(now.every_turns),
    time: now.every ?? '',
    keep: String(now.keep),
    days: String(now.keep_days),
  }),
  // A request replaces the whole plan.
  patch: ({ turns, time, keep, days }: Plan): UpdateAgent => ({
    snapshots: {
      every_turns: turns.trim() === '' ? null : Number(turns),
      every: time.trim() || null,
      keep: Number(keep),
      keep_days: Number(days),
    } satisfies Fields,
  }),
  check: ({ turns, time, keep, days }: Plan): Partial<Record<keyof Plan, string | undefined>> => ({
    turns:
      turns.trim() === '' || isNumber(turns, maxSnapshotTurns)
        ? undefined
        : `Enter a number from 1 to ${maxSnapshotTurns}, or nothing.`,
    time:
      time.trim() === '' || isTime(time) ? undefined : 'Enter a time such as 30m, 6h or 1d, from 5m on, or nothing.',
    keep: isNumber(keep, maxKeptSnapshots) ? undefined : `Enter a number from 1 to ${maxKeptSnapshots}.`,
    days: isNumber(days, maxSnapshotDays) ? undefined : `Enter days, from 1 to ${maxSnapshotDays}.`,
  }),
};
