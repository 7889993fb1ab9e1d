import { agentIdPattern, makeAgentId } from '@lodge/domain';
import { randomInt } from 'node:crypto';
import type { Schedule, ScheduleRun, UpdateSchedule } from '@lodge/contract';
import type { ScheduleInput, Schedules } from '@lodge/engine';
import type { SchedulePlace, ScheduleRow, ScheduleRun as RunRow } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import { checkAgentId } from '../../reply/agent-record.ts';
import { deliverColumns, deliveryOf, deliveryRecord } from '../../reply/delivery-record.ts';

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

/** The schedule that the request's path names. */
export function placeOf({ params, principal }: FastifyRequest): SchedulePlace {
  const { id, schedule } = params as OfAgent;
  checkAgentId(id);
  // No id of Lodge's is longer or has other characters: an empty one belongs to nobody.
  const scheduleId = agentIdPattern.test(schedule) ? schedule : '';
  return { accountId: principal.accountId, agentId: id, scheduleId };
}

/** The id is decided first: a second attempt of an idempotent request finds the first one's schedule. */
export const newId = ({ idempotent }: FastifyRequest): string => idempotent?.agentId ?? makeAgentId(randomInt);

/** The given fields of a body, in the form of the use-cases. */
export function inputOf(body: UpdateSchedule): ScheduleInput {
  const { time_zone: timeZone, at, deliver, ...rest } = body;
  return {
    ...rest,
    ...(timeZone !== undefined && { timeZone }),
    ...(at !== undefined && { at: new Date(at) }),
    ...(deliver !== undefined && { deliver: deliveryOf(deliver) }),
  };
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
  deliver: deliveryRecord(deliverColumns(row.deliver)),
  wake: row.wake,
  next_run_at: row.nextRunAt && row.nextRunAt.toISOString(),
  last_run: row.lastRun && runRecord(row.lastRun),
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt.toISOString(),
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
