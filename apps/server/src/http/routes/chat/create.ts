import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { AgentChat, AgentParams, ChatCompletion, ChatQuery, ConversationHeaders, ModelChat } from '@lodge/contract';
import { Refusal } from '@lodge/engine';
import type { LiveAgent, Turn } from '@lodge/engine';
import type { ChatEndpoint } from '@lodge/engine/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { checkAgentId } from '../../agent-record.ts';
import { answerBlocks, checkedReply, wholeAnswer } from '../../chat/answer.ts';
import { withComments } from '../../chat/event-stream.ts';
import { connectionError } from '../../chat/gateway.ts';
import type { GatewayReply } from '../../chat/gateway.ts';
import { turnSignal } from '../../chat/turn-signal.ts';
import type { App, HttpContext } from '../../context.ts';
import { reportError } from '../../errors.ts';
import type { ApiError } from '../../errors.ts';

/** The contract promises a comment at least every 15 s. */
const defaultSilenceMs = 10_000;

const shared = {
  tags: ['Chat'],
  description:
    "OpenAI's chat completions. With `stream: true` the reply is `text/event-stream`: OpenAI's chunks, then `[DONE]`; comments while the agent works; a failure in its midst is an event with `error`. Closing the connection cancels the turn. A paused agent is resumed first; a stopped one answers 409, unless `wake=true` or its `lifecycle.auto_start` says that it is to be started.",
  headers: ConversationHeaders,
  querystring: ChatQuery,
  response: {
    200: {
      description: 'The answer of the agent.',
      content: { 'application/json': { schema: ChatCompletion }, 'text/event-stream': { schema: Type.String() } },
    },
  },
};
const config = {
  rate: 'calls',
  scopes: ['agents:write', 'agents:chat'],
  errors: [
    'agent_not_found',
    'agent_not_running',
    'agent_transitioning',
    'rate_limit_exceeded',
    'spend_limit_exceeded',
    'loop_detected',
    'quota_exceeded',
    'insufficient_capacity',
    'agent_unavailable',
  ],
} as const;

export function chatRoutes(app: App, context: HttpContext): void {
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
    handler: (request, reply) => chat(context, request, reply, { id: request.params.id, body: request.body }),
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
    handler: (request, reply) => chat(context, request, reply, { id: request.body.model, body: request.body }),
  });
}

interface Asked {
  readonly id: string;
  readonly body: AgentChat;
}

async function chat(context: HttpContext, request: FastifyRequest, reply: FastifyReply, asked: Asked) {
  const { agents, chatTimeoutMs, cut } = context;
  checkAgentId(asked.id);
  request.scope.fields.agent_id = asked.id;
  const turn = agents.turn(asked.id, turnSignal(reply, cut, chatTimeoutMs));
  try {
    return await answer(context, request, reply, { ...asked, turn });
  } catch (error) {
    // Known here, whatever the runtime makes of it.
    throw turn.refusal ?? error;
  }
}

async function answer(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, body, turn }: Asked & { readonly turn: Turn },
) {
  const { log, chatSilenceMs = defaultSilenceMs } = context;
  const { signal } = turn;
  const { accountId } = request.principal;
  const live = await liveAgent(context, accountId, id, { wake: wantsWake(request), signal });
  const { flush } = live;
  const endpoint = live.endpoint({ member: null, conversation: conversationOf(request, body) });
  const gatewayReply = openTurn(context, accountId, id, { endpoint, body: bodyFor(endpoint, body), signal });
  if (body.stream !== true) {
    const text = await wholeAnswer(await gatewayReply, id);
    // What is answered is kept: the agent's memory of the turn is on its disk before the client knows of it.
    await flush();
    return reply.type('application/json; charset=utf-8').send(text);
  }
  // An error that comes soon still has a status of its own; after that the stream begins, answer or not.
  const late = await Promise.race([gatewayReply.then(() => false), setTimeout(chatSilenceMs, true, { ref: false })]);
  const failed = (error: unknown): ApiError => reportError(log, turn.refusal ?? error, request);
  const blocks = answerBlocks(gatewayReply, id, { failed, flush });
  return reply
    .type('text/event-stream; charset=utf-8')
    .headers({ 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' })
    .send(Readable.from(withComments(blocks, chatSilenceMs, late)));
}

const wantsWake = ({ query }: FastifyRequest): boolean => (query as ChatQuery).wake === 'true';

/** The agent, running. It is held awake until `signal` aborts, which it does at the end of every turn. */
async function liveAgent(
  { agents, lifecycleWaitMs, metrics }: HttpContext,
  accountId: string,
  id: string,
  { wake, signal }: { readonly wake: boolean; readonly signal: AbortSignal },
): Promise<LiveAgent> {
  const live = await agents.use(accountId, id, { wake, timeoutMs: lifecycleWaitMs, signal });
  const ended = metrics?.chatBegan();
  const release = (): void => {
    live.release();
    ended?.();
  };
  if (!signal.aborted) signal.addEventListener('abort', release, { once: true });
  else {
    release();
    throw signal.reason;
  }
  return live;
}

const conversationOf = ({ headers }: FastifyRequest, { user }: AgentChat): string | null => {
  const named = user ?? headers['x-conversation-id'];
  return typeof named === 'string' ? named : null;
};

/** The client's request as the agent's runtime wants it: its own name for the model; the conversation is in the endpoint's headers. */
function bodyFor(endpoint: ChatEndpoint, body: AgentChat): string {
  return JSON.stringify({ ...body, model: endpoint.model, user: undefined });
}

interface GatewayTurn {
  readonly endpoint: ChatEndpoint;
  readonly body: string;
  readonly signal: AbortSignal;
}

async function openTurn(
  { agents, gateway }: HttpContext,
  accountId: string,
  id: string,
  { endpoint, body, signal }: GatewayTurn,
): Promise<GatewayReply> {
  let reply: GatewayReply;
  try {
    reply = await gateway.send(endpoint, 'chat/completions', body, signal);
  } catch (error) {
    // The VM may have ended a moment ago.
    const lives = signal.aborted || (await agents.get(accountId, id)).status === 'running';
    throw lives
      ? connectionError(error)
      : new Refusal('agent_not_running', 'Agent is not running. Start it first.', id);
  }
  return checkedReply(reply);
}
