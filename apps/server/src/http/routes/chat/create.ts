import { AgentChat, AgentParams, ChatCompletion, ModelChat, ChatStreamEvent } from '@lodge/contract';
import type { Json } from '@lodge/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { printChunks, printCompletion } from './print.ts';
import { turnConfig as config, turnSchema } from './turn-route.ts';
import { answerTurn, conversationOf, targetOf } from './turn.ts';
import type { TurnTarget } from './turn.ts';
import type { App } from '../../app-types.ts';
import type { Turns } from '../../needs.ts';

const shared = {
  ...turnSchema,
  description:
    "OpenAI's chat completions. With `stream: true` the reply is `text/event-stream`: OpenAI's chunks, then `[DONE]`; comments while the agent works, and `: waiting for a confirmation <id>` when a call of it begins to wait for its owner's yes; with `stream_options.include_steps`, chunks with `step` and no choices, one for the beginning and one for the end of each use of a tool; a failure in its midst is an event with `error`. The agent works with its own tools: a request's `tools` are not offered to its model. Closing the connection cancels the turn. A paused agent is resumed first; a stopped one answers 409, unless `wake=true` or its `lifecycle.auto_start` says that it is to be started.",
  response: {
    200: {
      description: 'The answer of the agent.',
      content: { 'application/json': { schema: ChatCompletion }, 'text/event-stream': { schema: ChatStreamEvent } },
    },
  },
};

export function chatRoutes(app: App, context: Turns): void {
  const byPath = {
    schema: {
      ...shared,
      operationId: 'createAgentChatCompletion',
      summary: 'Talk to an agent',
      params: AgentParams,
      body: AgentChat,
    },
    config,
  };
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/chat/completions',
    ...byPath,
    handler: (request, reply) => {
      const { params, body } = request;
      return chat(context, request, reply, { target: targetOf(body.model ?? params.id, params.id), body });
    },
  });

  const byModel = {
    schema: {
      ...shared,
      operationId: 'createChatCompletion',
      summary: 'Talk to the agent that `model` names',
      body: ModelChat,
    },
    config,
  };
  app.route({
    method: 'POST',
    url: '/v1/chat/completions',
    ...byModel,
    handler: (request, reply) => {
      const { body } = request;
      return chat(context, request, reply, { target: targetOf(body.model), body });
    },
  });
}

interface Chat {
  readonly target: TurnTarget;
  readonly body: AgentChat;
}

function chat(context: Turns, request: FastifyRequest, reply: FastifyReply, { target, body }: Chat) {
  return answerTurn(context, request, reply, {
    target,
    api: 'chat/completions',
    conversation: conversationOf(request, body.user),
    steps: body.stream_options?.include_steps === true,
    // The conversation is in the endpoint's headers.
    body: { ...body, user: undefined, ...withoutSteps(body) },
    print: (answer) => printCompletion(answer, target.model),
    printEvents: (events, failed) => printChunks(events, target.model, failed),
  });
}

/** Runtimes know the options of OpenAI only. */
function withoutSteps({ stream_options: options }: AgentChat): Json {
  if (!options || !('include_steps' in options)) return {};
  const { include_steps: _steps, ...others } = options;
  return { stream_options: Object.keys(others).length === 0 ? undefined : others };
}
