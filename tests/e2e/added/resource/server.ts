/** Contract, routes and wiring. */
import { Type } from 'typebox';
import { AgentParams } from '@lodge/contract';
import type { ErrorCode } from '@lodge/domain';
import type { App } from '../../../../apps/server/src/http/app-types.ts';
import { actorNote } from '../../../../apps/server/src/http/identity/change-note.ts';
import { toWire } from '../../../../apps/server/src/http/reply/to-wire.ts';
import type { Core, Resource } from '../../../../apps/server/src/resources/resource.ts';
import { createNotes } from './engine.ts';
import type { Notes } from './engine.ts';

const Note = Type.Object(
  {
    object: Type.Literal('note'),
    id: Type.String(),
    agent_id: Type.String(),
    text: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Note', additionalProperties: false },
);
const CreateNote = Type.Object({ text: Type.String({ maxLength: 100 }) }, { additionalProperties: false });
const NoteParams = Type.Object({ ...AgentParams.properties, note: Type.String() });
const Done = Type.Object({ object: Type.Literal('note.deleted'), id: Type.String() }, { additionalProperties: false });
const tags = ['Notes'];
const errors: readonly ErrorCode[] = ['agent_not_found', 'note_not_found' as ErrorCode];

function noteRoutes(app: App, { notes }: { readonly notes: Notes }): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/notes',
    schema: {
      operationId: 'listNotes',
      tags,
      summary: 'List notes',
      params: AgentParams,
      response: { 200: Type.Array(Note) },
    },
    config: { scopes: ['agents:read'], errors: ['agent_not_found'] },
    handler: async ({ params: { id: agentId }, principal: { accountId } }) =>
      (await notes.list({ accountId, agentId })).map((row) => toWire(Note, row)),
  });
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/notes',
    schema: {
      operationId: 'createNote',
      tags,
      summary: 'Make a note',
      params: AgentParams,
      body: CreateNote,
      response: { 201: Note },
    },
    config: { scopes: ['agents:write'], errors: ['agent_not_found', 'quota_exceeded'] },
    handler: async (request, reply) => {
      const place = { accountId: request.principal.accountId, agentId: request.params.id };
      return reply.code(201).send(toWire(Note, await notes.create(place, request.body.text, actorNote(request))));
    },
  });
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/notes/:note',
    schema: { operationId: 'deleteNote', tags, summary: 'Remove a note', params: NoteParams, response: { 200: Done } },
    config: { scopes: ['agents:write'], errors },
    handler: async (request) => {
      const { id: agentId, note: id } = request.params;
      await notes.remove({ accountId: request.principal.accountId, agentId }, id, actorNote(request));
      return { object: 'note.deleted' as const, id };
    },
  });
}

export const notes = { open: (core: Core) => createNotes(core), routes: [noteRoutes] } as const satisfies Resource;
