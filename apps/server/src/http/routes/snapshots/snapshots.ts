import {
  AgentParams,
  DeletedSnapshot,
  ListAgentSnapshotsQuery,
  ListSnapshotsQuery,
  Snapshot,
  SnapshotList,
  SnapshotParams,
  UpdateSnapshot,
} from '@lodge/contract';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { trimName } from '../agents/fields.ts';
import { snapshotIdOf, snapshotList, snapshotRecord, tags } from './shared.ts';
import type { SnapshotNeeds } from './shared.ts';

const shared = { tags, params: SnapshotParams };

/** `GET` of snapshots, of an agent and of the account, and `GET`, `PATCH` and `DELETE` of one by its id. */
export function snapshotRoutes(app: App, needs: SnapshotNeeds): void {
  listRoutes(app, needs);
  oneRoutes(app, needs);
}

function listRoutes(app: App, { snapshots, cursors }: SnapshotNeeds): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/snapshots',
    schema: {
      operationId: 'listAgentSnapshots',
      tags,
      summary: 'List the snapshots of an agent',
      description: 'Newest first.',
      params: AgentParams,
      querystring: ListAgentSnapshotsQuery,
      response: { 200: { ...SnapshotList, 'x-response-description': 'A page of snapshots.' } },
    },
    config: { scopes: ['agents:read'], errors: ['agent_not_found'] },
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const { accountId } = request.principal;
      return snapshotList(cursors, { accountId, list: `snapshots:${id}` }, request.query, (query) =>
        snapshots.ofAgent(accountId, id, query),
      );
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/snapshots',
    schema: {
      operationId: 'listSnapshots',
      tags,
      summary: 'List snapshots',
      description: 'Those of all agents of the account, and pinned ones of agents that were deleted. Newest first.',
      querystring: ListSnapshotsQuery,
      response: { 200: { ...SnapshotList, 'x-response-description': 'A page of snapshots.' } },
    },
    config: { scopes: ['agents:read'] },
    handler: async (request) => {
      const { accountId } = request.principal;
      const { agent_id: agentId, ...rest } = request.query;
      return snapshotList(cursors, { accountId, list: 'snapshots' }, rest, (query) =>
        snapshots.list(accountId, { ...query, ...(agentId !== undefined && { agentId }) }),
      );
    },
  });
}

function oneRoutes(app: App, { snapshots }: SnapshotNeeds): void {
  app.route({
    method: 'GET',
    url: '/v1/snapshots/:snapshot',
    schema: {
      ...shared,
      operationId: 'getSnapshot',
      summary: 'Read a snapshot',
      response: { 200: { ...Snapshot, 'x-response-description': 'The snapshot.' } },
    },
    config: { scopes: ['agents:read'], errors: ['snapshot_not_found'] },
    handler: async (request) => snapshotRecord(await snapshots.get(request.principal.accountId, snapshotIdOf(request))),
  });

  app.route({
    method: 'PATCH',
    url: '/v1/snapshots/:snapshot',
    schema: {
      ...shared,
      operationId: 'updateSnapshot',
      summary: 'Change a snapshot',
      description: 'Its name, note, pin and expiry. What was saved never changes.',
      body: UpdateSnapshot,
      response: { 200: { ...Snapshot, 'x-response-description': 'The snapshot as it is now.' } },
    },
    config: { scopes: ['agents:write'], errors: ['snapshot_not_found'] },
    preValidation: trimName,
    handler: async (request) => {
      const { expires_at: at, ...given } = request.body;
      const change = { ...given, ...(at !== undefined && { expiresAt: at === null ? null : new Date(at) }) };
      const { accountId } = request.principal;
      return snapshotRecord(await snapshots.update(accountId, snapshotIdOf(request), change, actorNote(request)));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/snapshots/:snapshot',
    schema: {
      ...shared,
      operationId: 'deleteSnapshot',
      summary: 'Delete a snapshot',
      description: 'Agents that were started from it go on.',
      response: { 200: { ...DeletedSnapshot, 'x-response-description': 'It is no more.' } },
    },
    config: { scopes: ['agents:write'], errors: ['snapshot_not_found', 'snapshot_not_ready'] },
    handler: async (request) => {
      const id = snapshotIdOf(request);
      await snapshots.remove(request.principal.accountId, id, actorNote(request));
      return { object: 'snapshot.deleted' as const, id, deleted: true as const };
    },
  });
}
