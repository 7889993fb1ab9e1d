import { ListRunsQuery, NoBody, ScheduleParams, ScheduleRun, ScheduleRunList } from '@lodge/contract';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import { errors, newId, placeOf, runRecord, tags } from './shared.ts';
import type { ScheduleNeeds } from './shared.ts';

interface Needs extends ScheduleNeeds {
  readonly cursors: Cursors;
}

/** `POST /v1/agents/:id/schedules/:schedule/run` and `GET …/runs`. */
export function scheduleRunRoutes(app: App, needs: Needs): void {
  runRoute(app, needs);
  listRoute(app, needs);
}

function runRoute(app: App, { schedules }: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/schedules/:schedule/run',
    schema: {
      operationId: 'runSchedule',
      tags,
      summary: 'Run a schedule now',
      description: 'Enabled or not; its times stay as they are. The reply does not wait for the answer: read the run.',
      params: ScheduleParams,
      body: NoBody,
      response: { 201: { ...ScheduleRun, 'x-response-description': 'The run, which waits.' } },
    },
    config: { scopes: ['agents:write'], errors: [...errors, 'schedule_running'] },
    handler: async (request, reply) => {
      const place = placeOf(request);
      const runId = newId(request);
      // An earlier attempt has made it, and was killed before it could answer.
      const made = request.idempotent?.effective
        ? (await schedules.runs(place, { limit: 100 })).find(({ id }) => id === runId)
        : undefined;
      const run = made ?? (await schedules.run(place, runId, actorNote(request)));
      request.scope.fields.agent_id = place.agentId;
      return reply.code(201).send(runRecord(run));
    },
  });
}

function listRoute(app: App, { schedules, cursors }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/schedules/:schedule/runs',
    schema: {
      operationId: 'listScheduleRuns',
      tags,
      summary: 'List the runs of a schedule',
      description: 'Newest first; the last 200 of 90 days are kept.',
      params: ScheduleParams,
      querystring: ListRunsQuery,
      response: { 200: { ...ScheduleRunList, 'x-response-description': 'A page of runs.' } },
    },
    config: { scopes: ['agents:read'], errors },
    handler: async (request) => {
      const place = placeOf(request);
      const { limit = 20, cursor } = request.query;
      const kind = `schedule_runs:${place.scheduleId}`;
      const before = cursor === undefined ? undefined : cursors.open(kind, place.accountId, cursor);
      const rows = await schedules.runs(place, { limit: limit + 1, ...(before !== undefined && { before }) });
      return pageReply(rows, {
        limit,
        record: runRecord,
        cursorOf: (last) => cursors.seal(kind, place.accountId, last.id),
      });
    },
  });
}
