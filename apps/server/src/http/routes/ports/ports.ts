import { AgentParams, DeletedPort, Port, PortList, PortParams, PublishPort } from '@lodge/contract';
import type { AgentPortRow, PublishedPorts } from '@lodge/engine';
import type { AgentRow } from '@lodge/store/agents';
import type { FastifyRequest } from 'fastify';
import { checkAgentId } from '../../reply/agent-record.ts';
import { originOf } from '../../agent-urls/address.ts';
import { checkPort } from './allowed.ts';
import { toWire } from '../../reply/to-wire.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import type { AgentReplies } from '../../needs.ts';

const tags = ['Addresses'];
const scopes = ['agents:write'] as const;

interface Needs extends AgentReplies {
  readonly ports: PublishedPorts;
}

/** `GET` and `POST /v1/agents/:id/ports`, `DELETE /v1/agents/:id/ports/:port`. */
export function portRoutes(app: App, context: Needs): void {
  listRoute(app, context);
  publishRoute(app, context);
  unpublishRoute(app, context);
}

function listRoute(app: App, context: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/ports',
    schema: {
      operationId: 'listAgentPorts',
      tags,
      summary: 'List the published ports of an agent',
      params: AgentParams,
      response: { 200: { ...PortList, 'x-response-description': 'All of them.' } },
    },
    config: { scopes, errors: ['agent_not_found'] },
    handler: async (request) => {
      const row = await agentOf(context, request, request.params.id);
      const published = await context.ports.list(row.accountId, row.id);
      const data = published.map((port) => portRecord(port, row, context));
      return { object: 'list' as const, data, has_more: false as const, next_cursor: null };
    },
  });
}

function publishRoute(app: App, context: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/ports',
    schema: {
      operationId: 'publishAgentPort',
      tags,
      summary: 'Publish a port of an agent',
      description:
        "Serves an HTTP server in the agent's machine under an address of its own, WebSockets among it. The server must listen on the machine's address (0.0.0.0), not on loopback alone. A request resumes a paused agent and holds it awake. The ports of the agent's own gateway, its dashboard and the service's daemon cannot be published. For a port that is published already, `public` is changed.",
      params: AgentParams,
      body: PublishPort,
      response: {
        200: { ...Port, 'x-response-description': 'It was published already.' },
        201: { ...Port, 'x-response-description': 'The published port.' },
      },
    },
    config: { scopes, errors: ['agent_not_found', 'quota_exceeded'] },
    handler: async (request, reply) => {
      const { port, public: isPublic = false } = request.body;
      const row = await agentOf(context, request, request.params.id);
      checkPort(context.agents, row, port);
      const { accountId, id: agentId } = row;
      const place = { accountId, agentId, port };
      const published = await context.ports.publish(place, isPublic, actorNote(request));
      // An earlier attempt may have published it, and was killed before it could answer.
      const isNew = published.isNew || request.idempotent?.effective === true;
      return reply.code(isNew ? 201 : 200).send(portRecord(published.row, row, context));
    },
  });
}

function unpublishRoute(app: App, context: Needs): void {
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/ports/:port',
    schema: {
      operationId: 'unpublishAgentPort',
      tags,
      summary: 'Take a published port back',
      params: PortParams,
      response: { 200: { ...DeletedPort, 'x-response-description': 'It is published no more.' } },
    },
    config: { scopes, errors: ['agent_not_found', 'port_not_found'] },
    handler: async (request) => {
      const given = String(request.params.port);
      const { accountId, id: agentId } = await agentOf(context, request, request.params.id);
      const port = /^[1-9]\d{0,4}$/.test(given) ? Number(given) : 0;
      await context.ports.unpublish({ accountId, agentId, port }, actorNote(request));
      return { object: 'port.deleted' as const, port, deleted: true as const };
    },
  });
}

function agentOf({ agents }: Needs, { principal }: FastifyRequest, id: string): Promise<AgentRow> {
  checkAgentId(id);
  return agents.get(principal.accountId, id);
}

const portRecord = (port: AgentPortRow, row: AgentRow, { agentUrl }: Needs) =>
  toWire(Port, { ...port, url: originOf({ kind: row.runtimeKind, id: row.id, port: port.port }, agentUrl) });
