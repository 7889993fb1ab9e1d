import { randomUUID } from 'node:crypto';
import { Refusal } from '@lodge/domain';
import {
  AgentParams,
  AgentResponse,
  AgentResponseRequest,
  ModelResponseRequest,
  ResponseStreamEvent,
} from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DecidedInTurn, DecideInTurn } from '@lodge/engine';
import { actorNote } from '../../identity/change-note.ts';
import { replySignal } from '../../pipeline/client-gone.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { approvalOf } from './approvals.ts';
import { printResponse, printResponseEvents } from './print.ts';
import { ResponseIds } from './response-ids.ts';
import { inputItems, otherFields } from './input.ts';
import { turnConfig, turnSchema } from '../chat/turn-route.ts';
import { answerTurn, conversationOf, targetOf } from '../chat/turn.ts';
import type { TurnTarget } from '../chat/turn.ts';
import type { App } from '../../app-types.ts';
import type { Turns } from '../../needs.ts';
import type { SecretBox } from '@lodge/ports';

const config = {
  ...turnConfig,
  errors: [...turnConfig.errors, 'confirmation_not_found', 'confirmation_closed'],
} as const;

const shared = {
  ...turnSchema,
  description:
    "OpenAI's Responses API. With `stream: true` the reply is `text/event-stream`: OpenAI's events, the last of them `response.completed`; comments while the agent works; a call that waits for its owner's yes is an item `mcp_approval_request`, whose id is the confirmation's, and an item `mcp_approval_response` of a next request's input decides, with the scope `agents:write`; a failure in its midst is the event `error`. The same `user` is the same conversation as in chat completions, and `tools` are the agent's own there and here. Closing the connection cancels the turn. Waking is as in chat completions.",
  response: {
    200: {
      description: 'The answer of the agent.',
      content: { 'application/json': { schema: AgentResponse }, 'text/event-stream': { schema: ResponseStreamEvent } },
    },
  },
};

interface Needs extends Turns {
  readonly secrets?: SecretBox;
  readonly decideInTurn: DecideInTurn;
}

export function responseRoutes(app: App, context: Needs): void {
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

async function respond(context: Needs, request: FastifyRequest, reply: FastifyReply, { ids, target, body }: Asked) {
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
  const { input, ended } = await decided(context, request, reply, target, body.input);
  return answerTurn(context, request, reply, {
    target,
    api: 'responses',
    conversation,
    body: { ...otherFields(body), input: inputItems(input) },
    ...(ended && { ended }),
    print: (answer, undecided) => printResponse(answer, names, undecided),
    printEvents: (events, failed) => printResponseEvents(events, names, failed),
  });
}

type Input = AgentResponseRequest['input'];

interface Decided {
  readonly input: Input;
  /** The agent knows the ends, or it does not. Absent without decisions. */
  readonly ended?: DecidedInTurn['ended'];
}

/** Carries the decisions in the input out, and puts a message about each in its place. */
async function decided(
  { decideInTurn, cut }: Needs,
  request: FastifyRequest,
  reply: FastifyReply,
  { id: agentId }: TurnTarget,
  input: Input,
): Promise<Decided> {
  if (typeof input === 'string') return { input };
  const given = input.map(approvalOf);
  const decisions = given.filter((one) => one !== null);
  if (decisions.length === 0) return { input };
  checkAgentId(agentId);
  const { principal } = request;
  if (!principal.scopes.includes('agents:write')) {
    throw new Refusal('insufficient_scope', 'mcp_approval_response takes the scope agents:write.');
  }
  const { accountId } = principal;
  const decider = { accountId, agentId, note: actorNote(request), signal: replySignal(reply, cut) };
  const { texts, ended } = await decideInTurn(decider, decisions);
  const next = texts.values();
  const told = input.map((item, index) =>
    given[index] === null ? item : { type: 'message', role: 'user', content: next.next().value },
  );
  return { input: told, ended };
}
