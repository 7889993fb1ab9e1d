import {
  AgentParams,
  CreateHook,
  CreatedHook,
  DeletedHook,
  HookList,
  HookMessageList,
  HookParams,
  ListHookMessagesQuery,
} from '@lodge/contract';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';
import { actorNote } from '../../identity/change-note.ts';
import { refuseLostSecret } from '../../pipeline/idempotency/secret-replies.ts';
import { trimName } from '../agents/fields.ts';
import type { App } from '../../app-types.ts';
import type { Reached } from '../../context.ts';
import { errors, hookRecord, inputOf, messageRecord, newHookId, placeOf, tags } from './shared.ts';
import type { HookNeeds } from './shared.ts';

interface Needs extends HookNeeds, Reached {
  readonly cursors: Cursors;
}

/** `GET` and `POST /v1/agents/:id/hooks`, `DELETE` of one by its id, and `GET` of its messages. */
export function hookRoutes(app: App, needs: Needs): void {
  listRoute(app, needs);
  createRoute(app, needs);
  removeRoute(app, needs);
  messagesRoute(app, needs);
}

function listRoute(app: App, { hooks, fingerprints }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/hooks',
    schema: {
      operationId: 'listHooks',
      tags,
      summary: 'List the hooks of an agent',
      params: AgentParams,
      response: { 200: { ...HookList, 'x-response-description': 'All of them, oldest first.' } },
    },
    config: { scopes: ['agents:read'], errors: ['agent_not_found'] },
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const rows = await hooks.list(request.principal.accountId, id);
      return {
        object: 'list' as const,
        data: rows.map((row) => hookRecord(row, fingerprints)),
        has_more: false as const,
        next_cursor: null,
      };
    },
  });
}

function createRoute(app: App, { hooks, origin, fingerprints }: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/hooks',
    schema: {
      operationId: 'createHook',
      tags,
      summary: 'Make a hook of an agent',
      description:
        "An address at which a third party's requests become messages to the agent, one turn each. The token in it is shown this once; with a `signature` the token alone opens nothing. `deliver` says where the answers go. An agent may have 20. The reply is not kept for an Idempotency-Key: it holds a secret.",
      params: AgentParams,
      body: CreateHook,
      response: { 201: { ...CreatedHook, 'x-response-description': 'The new hook, with its token.' } },
    },
    config: { scopes: ['agents:write'], errors: ['agent_not_found', 'quota_exceeded'], secretReply: true },
    preValidation: trimName,
    handler: async (request, reply) => {
      const { id: agentId } = request.params;
      checkAgentId(agentId);
      refuseLostSecret(request, 'Remove the hook, and make another.');
      const place = { accountId: request.principal.accountId, agentId, hookId: newHookId() };
      const { hook, token } = await hooks.create(place, inputOf(request.body), actorNote(request));
      request.scope.fields.agent_id = agentId;
      return reply.code(201).send({ ...hookRecord(hook, fingerprints), token, url: `${origin()}/v1/hooks/${token}` });
    },
  });
}

function removeRoute(app: App, { hooks }: Needs): void {
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/hooks/:hook',
    schema: {
      operationId: 'deleteHook',
      tags,
      summary: 'Remove a hook',
      description: 'With its messages; a turn under way is cut. Its address is nothing from now on.',
      params: HookParams,
      response: { 200: { ...DeletedHook, 'x-response-description': 'It is no more.' } },
    },
    config: { scopes: ['agents:write'], errors },
    handler: async (request) => {
      const place = placeOf(request);
      await hooks.remove(place, actorNote(request));
      return { object: 'hook.deleted' as const, id: place.hookId, deleted: true as const };
    },
  });
}

function messagesRoute(app: App, { hooks, cursors }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/hooks/:hook/messages',
    schema: {
      operationId: 'listHookMessages',
      tags,
      summary: 'List what came to a hook',
      description:
        'Newest first, and what became of each, without what was sent or answered. The last 10,000 of 30 days are kept; a delivery that is sent again is known so long.',
      params: HookParams,
      querystring: ListHookMessagesQuery,
      response: { 200: { ...HookMessageList, 'x-response-description': 'A page of messages.' } },
    },
    config: { scopes: ['agents:read'], errors },
    handler: async (request) => {
      const place = placeOf(request);
      const { limit = 20, cursor } = request.query;
      const kind = `hook_messages:${place.hookId}`;
      const before = cursor === undefined ? undefined : cursors.open(kind, place.accountId, cursor);
      const rows = await hooks.messages(place, { limit: limit + 1, ...(before !== undefined && { before }) });
      return pageReply(rows, {
        limit,
        record: messageRecord,
        cursorOf: (last) => cursors.seal(kind, place.accountId, last.id),
      });
    },
  });
}
