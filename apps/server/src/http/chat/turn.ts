/** One turn of an agent, or of a member of it, on whichever of OpenAI's APIs: from the request to the end of the answer. */
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { ChatQuery } from '@lodge/contract';
import { Refusal } from '@lodge/engine';
import type { LiveAgent, Turn } from '@lodge/engine';
import type { ChatEndpoint } from '@lodge/engine/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkAgentId } from '../agent-record.ts';
import type { HttpContext } from '../context.ts';
import { ApiError, reportError } from '../errors.ts';
import { checkedReply } from './answer.ts';
import type { AnswerEnd } from './answer.ts';
import { withComments } from './event-stream.ts';
import { connectionError } from './gateway.ts';
import type { GatewayReply, TurnApi } from './gateway.ts';
import { turnSignal } from './turn-signal.ts';

/** The contract promises a comment at least every 15 s. */
const defaultSilenceMs = 10_000;

/** Who is spoken to. `model` is what the answer calls it. */
export interface TurnTarget {
  readonly id: string;
  readonly member: string | null;
  readonly model: string;
}

/** Of a model's name: `<agent id>`, or `<agent id>/<member>`. Where the path names the agent, any other name means the agent itself. */
export function targetOf(model: string, pathId?: string): TurnTarget {
  const slash = model.indexOf('/');
  const id = slash === -1 ? model : model.slice(0, slash);
  if (pathId !== undefined && id !== pathId) return { id: pathId, member: null, model: pathId };
  return { id, member: slash === -1 ? null : model.slice(slash + 1), model };
}

/** The conversation that the client names; null: the turn stands alone. */
export function conversationOf({ headers }: FastifyRequest, user: string | null | undefined): string | null {
  const named = user ?? headers['x-conversation-id'];
  return typeof named === 'string' ? named : null;
}

export interface TurnRequest {
  readonly target: TurnTarget;
  readonly api: TurnApi;
  readonly conversation: string | null;
  readonly stream: boolean;
  /** The request as the agent's runtime wants it. */
  readonly bodyFor: (endpoint: ChatEndpoint) => string;
  /** The whole answer, as JSON text. */
  readonly whole: (reply: GatewayReply) => Promise<string>;
  /** The answer block by block, never throwing. */
  readonly blocks: (reply: Promise<GatewayReply>, end: AnswerEnd) => AsyncIterable<string>;
}

export async function runTurn(context: HttpContext, request: FastifyRequest, reply: FastifyReply, asked: TurnRequest) {
  const { agents, chatTimeoutMs, cut } = context;
  const { id, member } = asked.target;
  checkAgentId(id);
  request.scope.fields.agent_id = id;
  if (member !== null) await checkMember(context, request.principal.accountId, id, member);
  const over = turnSignal(reply, cut, chatTimeoutMs);
  const live = await liveAgent(context, request, id, over);
  // Whose agent it is was checked by then: what becomes of its turns is nobody else's to know.
  const turn = agents.turn(id, over);
  try {
    return await answer(context, request, reply, { asked, live, turn });
  } catch (error) {
    // Known here, whatever the runtime makes of it.
    throw turn.refusal ?? error;
  }
}

interface UnderWay {
  readonly asked: TurnRequest;
  readonly live: LiveAgent;
  readonly turn: Turn;
}

async function answer(context: HttpContext, request: FastifyRequest, reply: FastifyReply, underWay: UnderWay) {
  const { asked, live, turn } = underWay;
  const { log, chatSilenceMs = defaultSilenceMs } = context;
  const { target, conversation } = asked;
  const { signal } = turn;
  const { accountId } = request.principal;
  const { flush } = live;
  const endpoint = live.endpoint({ member: target.member, conversation });
  const gatewayReply = openTurn(context, accountId, { asked, endpoint, signal });
  if (!asked.stream) {
    const text = await asked.whole(await gatewayReply);
    // What is answered is kept: the agent's memory of the turn is on its disk before the client knows of it.
    await flush();
    return reply.type('application/json; charset=utf-8').send(text);
  }
  // An error that comes soon still has a status of its own; after that the stream begins, answer or not.
  const late = await Promise.race([gatewayReply.then(() => false), setTimeout(chatSilenceMs, true, { ref: false })]);
  const failed = (error: unknown): ApiError => reportError(log, turn.refusal ?? error, request);
  const blocks = asked.blocks(gatewayReply, { failed, flush });
  return reply
    .type('text/event-stream; charset=utf-8')
    .headers({ 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' })
    .send(Readable.from(withComments(blocks, chatSilenceMs, late)));
}

async function checkMember({ agents }: HttpContext, accountId: string, id: string, member: string): Promise<void> {
  const { members } = await agents.get(accountId, id);
  if (members.some(({ name }) => name === member)) return;
  throw new ApiError('member_not_found', 'The agent has no such member.');
}

/** The agent, running. It is held awake until `signal` aborts, which it does at the end of every turn. */
async function liveAgent(
  { agents, lifecycleWaitMs, metrics }: HttpContext,
  { query, principal }: FastifyRequest,
  id: string,
  signal: AbortSignal,
): Promise<LiveAgent> {
  const wake = (query as ChatQuery).wake === 'true';
  const options = { wake, message: true, timeoutMs: lifecycleWaitMs, signal };
  const live = await agents.use(principal.accountId, id, options);
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

interface GatewayTurn {
  readonly asked: TurnRequest;
  readonly endpoint: ChatEndpoint;
  readonly signal: AbortSignal;
}

async function openTurn(
  { agents, gateway }: HttpContext,
  accountId: string,
  { asked, endpoint, signal }: GatewayTurn,
): Promise<GatewayReply> {
  const { id } = asked.target;
  let reply: GatewayReply;
  try {
    reply = await gateway.send(endpoint, asked.api, asked.bodyFor(endpoint), signal);
  } catch (error) {
    // The VM may have ended a moment ago.
    const lives = signal.aborted || (await agents.get(accountId, id)).status === 'running';
    throw lives
      ? connectionError(error)
      : new Refusal('agent_not_running', 'Agent is not running. Start it first.', id);
  }
  return checkedReply(reply);
}
