import {
  AgentParams,
  Connection,
  ConnectionList,
  ConnectionParams,
  DeletedConnection,
  PutConnection,
} from '@lodge/contract';
import type { ShowsSecrets } from '../../needs.ts';
import type { ConnectionAuthInput, Connections } from '@lodge/engine';
import { checkAgentId } from '../../reply/agent-record.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import { connectionRecord } from './record.ts';

interface Needs extends ShowsSecrets {
  readonly connections: Connections;
}

const tags = ['Connections'];
const errors = ['agent_not_found', 'connection_not_found'] as const;
const shared = { tags, params: ConnectionParams };

/** `GET /v1/agents/:id/connections`, `GET`, `PUT` and `DELETE /v1/agents/:id/connections/:name`. */
export function connectionRoutes(app: App, needs: Needs): void {
  readRoutes(app, needs);
  putRoute(app, needs);
  deleteRoute(app, needs);
}

function readRoutes(app: App, { connections, fingerprints }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/connections',
    schema: {
      operationId: 'listConnections',
      tags,
      summary: 'List the connections of an agent',
      description:
        'Services of other people that the agent uses. Their credentials stay on the host, which adds them to each request.',
      params: AgentParams,
      response: { 200: { ...ConnectionList, 'x-response-description': 'All of them, by name.' } },
    },
    config: { scopes: ['agents:read'], errors: ['agent_not_found'] },
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const rows = await connections.list(request.principal.accountId, id);
      return {
        object: 'list' as const,
        data: rows.map((row) => connectionRecord(row, fingerprints)),
        has_more: false as const,
        next_cursor: null,
      };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/agents/:id/connections/:name',
    schema: {
      ...shared,
      operationId: 'getConnection',
      summary: 'Read a connection of an agent',
      response: { 200: { ...Connection, 'x-response-description': 'The connection.' } },
    },
    config: { scopes: ['agents:read'], errors },
    handler: async (request) => {
      const { id, name } = request.params;
      checkAgentId(id);
      return connectionRecord(await connections.find(request.principal.accountId, id, name), fingerprints);
    },
  });
}

function putRoute(app: App, { connections, fingerprints }: Needs): void {
  app.route({
    method: 'PUT',
    url: '/v1/agents/:id/connections/:name',
    schema: {
      ...shared,
      operationId: 'putConnection',
      summary: 'Put a connection of an agent',
      description:
        'Replaces what is there, in every state of the agent; headers that are left out stay as they are stored. In effect with the next call, without a restart.',
      body: PutConnection,
      response: { 200: { ...Connection, 'x-response-description': 'The connection as it is now.' } },
    },
    config: { scopes: ['agents:write'], errors: ['agent_not_found', 'quota_exceeded'] },
    handler: async (request) => {
      const { id, name } = request.params;
      checkAgentId(id);
      const { enabled = true, auth, ...given } = request.body;
      const input = {
        headers: undefined,
        allow: undefined,
        tools: undefined,
        url: undefined,
        ...given,
        name,
        enabled,
        auth: auth && authInput(auth),
      };
      const row = await connections.put(request.principal.accountId, id, input, actorNote(request));
      return connectionRecord(row, fingerprints);
    },
  });
}

const authInput = (auth: NonNullable<PutConnection['auth']>): ConnectionAuthInput => ({
  clientId: auth.client_id ?? null,
  clientSecret: auth.client_secret,
  scope: auth.scope ?? null,
  authorizationUrl: auth.authorization_url ?? null,
  tokenUrl: auth.token_url ?? null,
  clientAuth: auth.client_auth ?? null,
});

function deleteRoute(app: App, { connections }: Needs): void {
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/connections/:name',
    schema: {
      ...shared,
      operationId: 'deleteConnection',
      summary: 'Remove a connection of an agent',
      description: 'With its credentials. No call begins after that.',
      response: { 200: { ...DeletedConnection, 'x-response-description': 'It is gone.' } },
    },
    config: { scopes: ['agents:write'], errors },
    handler: async (request) => {
      const { id, name } = request.params;
      checkAgentId(id);
      await connections.remove(request.principal.accountId, id, name, actorNote(request));
      return { object: 'connection.deleted' as const, name, deleted: true as const };
    },
  });
}
