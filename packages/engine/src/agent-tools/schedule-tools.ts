/** The tools by which an agent makes its own schedules: reminders, and recurring work. */
import { Refusal, channelNamed, makeAgentId, readArguments, scheduleToolWords, schemaOf } from '@lodge/domain';
import type { Json, ToolArguments } from '@lodge/domain';
import type { Delivery, OfferedTool } from '@lodge/ports';
import type { SchedulePlace, ScheduleRow } from '@lodge/store/schedules';
import { randomInt } from 'node:crypto';
import type { ToolGuest } from './tool-guest.ts';

interface NewToolSchedule {
  readonly name: string;
  readonly prompt: string;
  readonly cron?: string;
  readonly every?: string;
  readonly at?: Date;
  readonly timeZone?: string;
  readonly deliver?: Delivery;
}

/** The owner's use-cases that the tools need. */
export interface ToolSchedules {
  list(accountId: string, agentId: string): Promise<readonly ScheduleRow[]>;
  create(place: SchedulePlace, input: NewToolSchedule): Promise<ScheduleRow>;
  remove(place: SchedulePlace): Promise<void>;
}

export const scheduleTools: readonly OfferedTool[] = Object.entries(scheduleToolWords).map(
  ([name, { description, fields }]) => ({ name, description, inputSchema: schemaOf(fields) }),
);

interface ScheduleCall {
  readonly guest: ToolGuest;
  readonly name: string;
  readonly given: Json;
}

export async function callScheduleTool(
  schedules: ToolSchedules,
  { guest: { accountId, agentId }, name, given }: ScheduleCall,
): Promise<Json> {
  switch (name) {
    case 'schedule_create': {
      const input = inputOf(readArguments(scheduleToolWords.schedule_create.fields, given));
      return record(await schedules.create({ accountId, agentId, scheduleId: makeAgentId(randomInt) }, input));
    }
    case 'schedule_list': {
      readArguments(scheduleToolWords.schedule_list.fields, given);
      return { schedules: (await schedules.list(accountId, agentId)).map(record) };
    }
    default: {
      const { id } = readArguments(scheduleToolWords.schedule_delete.fields, given);
      await schedules.remove({ accountId, agentId, scheduleId: id });
      return { id, deleted: true };
    }
  }
}

type Created = ToolArguments<(typeof scheduleToolWords)['schedule_create']['fields']>;

function inputOf({
  name,
  prompt,
  cron,
  every,
  at,
  in_minutes,
  time_zone,
  channel,
  conversation,
}: Created): NewToolSchedule {
  if ([cron, every, at, in_minutes].filter((each) => each !== undefined).length !== 1) {
    throw wrong('Exactly one of in_minutes, at, every and cron must be given.');
  }
  if ((channel === undefined) !== (conversation === undefined)) throw wrong('channel and conversation go together.');
  const time = at === undefined ? (in_minutes === undefined ? undefined : afterMinutes(in_minutes)) : timeOf(at);
  return {
    name,
    prompt,
    ...(cron !== undefined && { cron }),
    ...(every !== undefined && { every }),
    ...(time !== undefined && { at: time }),
    ...(time_zone !== undefined && { timeZone: time_zone }),
    ...(channel !== undefined && {
      deliver: { to: 'channel' as const, channel: channelNamed(channel), conversation: conversation! },
    }),
  };
}

/** A time must have its offset: without one it would be the host's local time. */
const timestamp = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)$/;

function timeOf(at: string): Date {
  const time = timestamp.test(at) ? new Date(at) : null;
  if (time !== null && Number.isFinite(time.getTime())) return time;
  throw wrong('at must be a time such as 2027-01-31T12:00:00+01:00.');
}

const afterMinutes = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);

function record({ id, name, enabled, cron, every, at, timeZone, prompt, nextRunAt, ...row }: ScheduleRow): Json {
  return {
    id,
    name,
    enabled,
    ...(cron !== null && { cron, time_zone: timeZone }),
    ...(every !== null && { every }),
    ...(at !== null && { at: at.toISOString() }),
    prompt: prompt.slice(0, 500).toWellFormed(),
    deliver_to: row.deliverTo,
    ...(row.deliverTo === 'channel' && { channel: row.deliverChannel, conversation: row.deliverConversation }),
    next_run_at: nextRunAt?.toISOString() ?? null,
  };
}

const wrong = (message: string): Refusal => new Refusal('invalid_request', message);
