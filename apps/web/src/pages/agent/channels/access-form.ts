import type { ChannelAccess } from '@lodge/sdk';
import { changedParts } from '../../../components/form/changed.ts';
import type { Problems } from '../../../components/form/use-form.ts';
import { text } from '../../../components/form/use-form.ts';

export type AccessName = 'allow_from' | 'group_allow' | 'per_sender_hourly';

export const defaultAccess: ChannelAccess = {
  mode: 'pairing',
  allow_from: [],
  per_sender_hourly: 60,
  groups: { mode: 'allowlist', allow: [], require_mention: true },
};

const mostNamed = 500;
const mostHourly = 10_000;

/** The ids of a text with one on each line. */
export const linesOf = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function checkAccess(data: FormData): Problems<AccessName> {
  const problems: Problems<AccessName> = {};
  if (linesOf(text(data, 'allow_from')).length > mostNamed) problems.allow_from = `Name at most ${mostNamed}.`;
  if (linesOf(text(data, 'group_allow')).length > mostNamed) problems.group_allow = `Name at most ${mostNamed}.`;
  const hourly = text(data, 'per_sender_hourly').trim();
  const isBound = /^\d{1,5}$/.test(hourly) && Number(hourly) >= 1 && Number(hourly) <= mostHourly;
  if (!isBound) problems.per_sender_hourly = `Enter a number from 1 to ${mostHourly}.`;
  return problems;
}

/** The access as it is now, with what changed in the form. */
export function mergedAccess(
  now: ChannelAccess | undefined,
  before: ChannelAccess,
  after: ChannelAccess,
): ChannelAccess {
  if (now === undefined) return after;
  const groups = { ...now.groups, ...changedParts(before.groups, after.groups) };
  return { ...now, ...changedParts(before, after), groups };
}

/** The access of the form. Lists that are not shown keep what they had. */
export function accessOf(data: FormData, before: ChannelAccess): ChannelAccess {
  const listed = (name: AccessName, kept: readonly string[]): string[] =>
    data.has(name) ? linesOf(text(data, name)) : [...kept];
  return {
    mode: text(data, 'mode') as ChannelAccess['mode'],
    allow_from: listed('allow_from', before.allow_from),
    per_sender_hourly: Number(text(data, 'per_sender_hourly')),
    groups: data.has('group_mode')
      ? {
          mode: text(data, 'group_mode') as ChannelAccess['groups']['mode'],
          allow: listed('group_allow', before.groups.allow),
          require_mention: data.has('require_mention'),
        }
      : before.groups,
  };
}
