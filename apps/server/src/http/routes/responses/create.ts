import { randomUUID } from 'node:crypto';
import {
  AgentParams,
  AgentResponse,
  AgentResponseRequest,
  ModelResponseRequest,
  ResponseStreamEvent,
} from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { printResponse, printResponseEvents } from './print.ts';
import { ResponseIds } from './response-ids.ts';
import { inputItems, otherFields } from './input.ts';
import { turnConfig as config, turnSchema } from '../chat/turn-route.ts';
import { answerTurn, conversationOf, targetOf } from '../chat/turn.ts';
import type { TurnTarget } from '../chat/turn.ts';
import type { App } from '../../app-types.ts';
import type { Turns } from '../../needs.ts';
import type { SecretBox } from '@lodge/ports';

const shared = {
  ...turnSchema,
  description:
    "OpenAI's Responses API. With `stream: true` the reply is `text/event-stream`: OpenAI's events, the last of them `response.completed`; comments while the agent works; a failure in its midst is the event `error`. The same `user` is the same conversation as in chat completions, and `tools` are the agent's own there and here. Closing the connection cancels the turn. Waking is as in chat completions.",
  response: {
    200: {
      description: 'The answer of the agent.',
      content: { 'application/json': { schema: AgentResponse }, 'text/event-stream': { schema: ResponseStreamEvent } },
    },
  },
};

export function responseRoutes(app: App, context: Turns & { readonly secrets?: SecretBox }): void {
  const ids = new ResponseIds(context.secrets);
  const byPath = {
    schema: {
      ...shared,
      operationId: 'createAgentResponse',
      summary: 'Have an agent respond',
      params: AgentParams,
      body: AgentResponseRequest,
    },
    config,
  };
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/responses',
    ...byPath,
    handler: (request, reply) => {
      const { params, body } = request;
      return respond(context, request, reply, { ids, target: targetOf(body.model ?? params.id, params.id), body });
    },
  });

  const byModel = {
    schema: {
      ...shared,
      operationId: 'createResponse',
      summary: 'Have the agent respond that `model` names',
      body: ModelResponseRequest,
    },
    config,
  };
  app.route({
    method: 'POST',
    url: '/v1/responses',
    ...byModel,
    handler: (request, reply) => {
      const { body } = request;
      return respond(context, request, reply, { ids, target: targetOf(body.model), body });
    },
  });
}

interface Asked {
  readonly ids: ResponseIds;
  readonly target: TurnTarget;
  readonly body: AgentResponseRequest;
}

function respond(context: Turns, request: FastifyRequest, reply: FastifyReply, { ids, target, body }: Asked) {
  const { accountId } = request.principal;
  const { previous_response_id: previous = null } = body;
  const conversation =
    previous === null
      ? // Any response can be continued, so each belongs to a conversation.
        (conversationOf(request, body.user) ?? `response-${randomUUID()}`)
      : ids.conversationOf(accountId, target, previous);
  const names = {
    id: ids.make(accountId, target, conversation),
    model: target.model,
    previous_response_id: previous,
    metadata: (body as { readonly metadata?: unknown }).metadata ?? {},
  };
  return answerTurn(context, request, reply, {
    target,
    api: 'responses',
    conversation,
    body: { ...otherFields(body), input: inputItems(body.input) },
    print: (answer) => printResponse(answer, names),
    printEvents: (events, failed) => printResponseEvents(events, names, failed),
  });
}
