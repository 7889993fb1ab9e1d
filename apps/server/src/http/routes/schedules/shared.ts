import { agentIdPattern, makeAgentId } from '@lodge/domain';
import { randomInt } from 'node:crypto';
import { Schedule, ScheduleRun } from '@lodge/contract';
import type { UpdateSchedule } from '@lodge/contract';
import type { ScheduleInput, SchedulePlace, ScheduleRow, ScheduleRunRow, Schedules } from '@lodge/engine';
import type { FastifyRequest } from 'fastify';
import { checkAgentId } from '../../reply/agent-record.ts';
import { deliveryOf, deliveryRecord } from '../../reply/delivery-record.ts';
import { toWire } from '../../reply/to-wire.ts';

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

export const scheduleRecord = (row: ScheduleRow): Schedule =>
  toWire(Schedule, { ...row, deliver: deliveryRecord(row), lastRun: row.lastRun && runRecord(row.lastRun) });

export const runRecord = (row: ScheduleRunRow): ScheduleRun => toWire(ScheduleRun, row);
