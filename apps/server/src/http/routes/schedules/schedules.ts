import {
  AgentParams,
  CreateSchedule,
  DeletedSchedule,
  Schedule,
  ScheduleList,
  ScheduleParams,
  UpdateSchedule,
} from '@lodge/contract';
import { trimName } from '../agents/fields.ts';
import { agentPath, checkAgentId } from '../../reply/agent-record.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import { errors, inputOf, newId, placeOf, scheduleRecord, tags } from './shared.ts';
import type { ScheduleNeeds } from './shared.ts';

const shared = { tags, params: ScheduleParams };
const change = { scopes: ['agents:write'], errors } as const;

/** `GET` and `POST /v1/agents/:id/schedules`, `GET`, `PATCH` and `DELETE` of one by its id. */
export function scheduleRoutes(app: App, needs: ScheduleNeeds): void {
  readRoutes(app, needs);
  createRoute(app, needs);
  changeRoutes(app, needs);
}

function readRoutes(app: App, { schedules }: ScheduleNeeds): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/schedules',
    schema: {
      operationId: 'listSchedules',
      tags,
      summary: 'List the schedules of an agent',
      params: AgentParams,
      response: { 200: { ...ScheduleList, 'x-response-description': 'All of them, oldest first.' } },
    },
    config: { scopes: ['agents:read'], errors: ['agent_not_found'] },
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const rows = await schedules.list(request.principal.accountId, id);
      return { object: 'list' as const, data: rows.map(scheduleRecord), has_more: false as const, next_cursor: null };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/agents/:id/schedules/:schedule',
    schema: {
      ...shared,
      operationId: 'getSchedule',
      summary: 'Read a schedule',
      response: { 200: { ...Schedule, 'x-response-description': 'The schedule.' } },
    },
    config: { scopes: ['agents:read'], errors },
    handler: async (request) => scheduleRecord(await schedules.get(placeOf(request))),
  });
}

function createRoute(app: App, { schedules }: ScheduleNeeds): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/schedules',
    schema: {
      operationId: 'createSchedule',
      tags,
      summary: 'Make a schedule of an agent',
      description:
        'Tells the agent something by itself, at the times of a cron expression in a time zone, at an interval, or once. A time that comes wakes the agent in any state but `error`. Times that passed while the service was down are made up for by one run; runs of a schedule never overlap; a run that fails is tried again up to three times. Many that are due at once begin within a minute. An agent may have 100.',
      params: AgentParams,
      body: CreateSchedule,
      response: { 201: { ...Schedule, 'x-response-description': 'The new schedule.' } },
    },
    config: { scopes: ['agents:write'], errors: ['agent_not_found', 'quota_exceeded'] },
    preValidation: trimName,
    handler: async (request, reply) => {
      const { id: agentId } = request.params;
      const { name, prompt } = request.body;
      checkAgentId(agentId);
      const place = { accountId: request.principal.accountId, agentId, scheduleId: newId(request) };
      const row = request.idempotent?.effective
        ? await schedules.get(place)
        : await schedules.create(place, { ...inputOf(request.body), name, prompt }, actorNote(request));
      request.scope.fields.agent_id = agentId;
      reply.header('location', `${agentPath(agentId)}/schedules/${row.id}`);
      return reply.code(201).send(scheduleRecord(row));
    },
  });
}

function changeRoutes(app: App, { schedules }: ScheduleNeeds): void {
  app.route({
    method: 'PATCH',
    url: '/v1/agents/:id/schedules/:schedule',
    schema: {
      ...shared,
      operationId: 'updateSchedule',
      summary: 'Change a schedule',
      description: 'Only what is given changes. A run that has begun goes on as it was.',
      body: UpdateSchedule,
      response: { 200: { ...Schedule, 'x-response-description': 'The schedule as it is now.' } },
    },
    config: change,
    preValidation: trimName,
    handler: async (request) =>
      scheduleRecord(await schedules.update(placeOf(request), inputOf(request.body), actorNote(request))),
  });

  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/schedules/:schedule',
    schema: {
      ...shared,
      operationId: 'deleteSchedule',
      summary: 'Remove a schedule',
      description: 'With its runs; one under way is cut.',
      response: { 200: { ...DeletedSchedule, 'x-response-description': 'It is no more.' } },
    },
    config: change,
    handler: async (request) => {
      const place = placeOf(request);
      await schedules.remove(place, actorNote(request));
      return { object: 'schedule.deleted' as const, id: place.scheduleId, deleted: true as const };
    },
  });
}
