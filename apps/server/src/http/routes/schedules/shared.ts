import { Refusal, agentIdPattern, channelNamed, makeAgentId } from '@lodge/domain';
import { randomInt } from 'node:crypto';
import type { Schedule, ScheduleDelivery, ScheduleRun, UpdateSchedule } from '@lodge/contract';
import type { ScheduleInput, Schedules } from '@lodge/engine';
import type { Delivery, SchedulePlace, ScheduleRow, ScheduleRun as RunRow } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import { checkAgentId } from '../../reply/agent-record.ts';

/** For routes of schedules. */
export interface ScheduleNeeds {
  readonly schedules: Schedules;
}

export const tags = ['Schedules'];
export const errors = ['agent_not_found', 'schedule_not_found'] as const;

interface OfAgent {
  readonly id: string;
  readonly schedule: string;
}

/** What the request's path speaks of. */
export function placeOf({ params, principal }: FastifyRequest): SchedulePlace {
  const { id, schedule } = params as OfAgent;
  checkAgentId(id);
  // No id of ours is longer, or has anything else in it: an empty one is nobody's.
  const scheduleId = agentIdPattern.test(schedule) ? schedule : '';
  return { accountId: principal.accountId, agentId: id, scheduleId };
}

/** Decided before: a second attempt of an idempotent request finds what the first has made. */
export const newId = ({ idempotent }: FastifyRequest): string => idempotent?.agentId ?? makeAgentId(randomInt);

/** What of a body is given, as the use-cases have it. */
export function inputOf(body: UpdateSchedule): ScheduleInput {
  const { time_zone: timeZone, at, deliver, ...rest } = body;
  return {
    ...rest,
    ...(timeZone !== undefined && { timeZone }),
    ...(at !== undefined && { at: new Date(at) }),
    ...(deliver !== undefined && { deliver: deliveryOf(deliver) }),
  };
}

function deliveryOf({ to, channel, conversation }: ScheduleDelivery): Delivery {
  if (to !== 'channel') {
    const given = channel === undefined ? (conversation === undefined ? null : 'conversation') : 'channel';
    if (given === null) return { to, channel: null, conversation: null };
    throw new Refusal('invalid_request', `deliver.${given} is for deliver.to "channel" alone.`);
  }
  if (channel === undefined) throw new Refusal('invalid_request', 'deliver.channel is required.');
  if (conversation === undefined) throw new Refusal('invalid_request', 'deliver.conversation is required.');
  return { to, channel: channelNamed(channel)!, conversation };
}

export const scheduleRecord = (row: ScheduleRow): Schedule => ({
  object: 'schedule',
  id: row.id,
  agent_id: row.agentId,
  name: row.name,
  enabled: row.enabled,
  ...(row.cron !== null && { cron: row.cron }),
  ...(row.every !== null && { every: row.every }),
  ...(row.at !== null && { at: row.at.toISOString() }),
  time_zone: row.timeZone,
  prompt: row.prompt,
  ...(row.conversation !== null && { conversation: row.conversation }),
  deliver: deliverRecord(row.deliver),
  wake: row.wake,
  next_run_at: row.nextRunAt && row.nextRunAt.toISOString(),
  last_run: row.lastRun && runRecord(row.lastRun),
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
});

const deliverRecord = ({ to, channel, conversation }: Delivery): ScheduleDelivery => ({
  to,
  ...(channel !== null && { channel }),
  ...(conversation !== null && { conversation }),
});

export const runRecord = (row: RunRow): ScheduleRun => ({
  object: 'schedule_run',
  id: row.id,
  schedule_id: row.scheduleId,
  scheduled_for: row.scheduledFor.toISOString(),
  started_at: row.startedAt && row.startedAt.toISOString(),
  ended_at: row.endedAt && row.endedAt.toISOString(),
  status: row.status,
  attempts: row.attempts,
  cost: row.cost,
  answer_preview: row.answerPreview,
  error: row.error,
});
