/** One turn of an agent, or of a member of it, on whichever of OpenAI's APIs: what the two have in common on the wire. */
import { setTimeout } from 'node:timers/promises';
import type { ChatQuery } from '@lodge/contract';
import type { Refusal, Json } from '@lodge/domain';
import { brokenOff } from '@lodge/engine';
import type { Answer, TurnEvent, TurnWait } from '@lodge/engine';
import type { TurnApi } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { Turns } from '../../needs.ts';
import { reportError } from '../../pipeline/errors.ts';
import { defaultSilenceMs, sendEvents } from '../../reply/event-stream.ts';
import { replySignal } from '../../pipeline/client-gone.ts';

/** The agent or member of a turn. `model` is what the answer calls it. */
export interface TurnTarget {
  readonly id: string;
  readonly member: string | null;
  readonly model: string;
}

/**
 * Parses a model's name: `<agent id>`, or `<agent id>/<member>`. Where the path names the agent, any other name means the
 * agent itself.
 */
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

export interface AskedTurn {
  readonly target: TurnTarget;
  readonly api: TurnApi;
  readonly conversation: string | null;
  /** Whether the events tell the steps of the agent's tools. */
  readonly steps?: boolean;
  /** The client's request, as runtimes read it. */
  readonly body: Json;
  /** Called when the turn is over, with whether the agent has answered. Never rejects. */
  readonly ended?: (isAnswered: boolean) => Promise<void>;
  /** The whole answer, as JSON text. `undecided` are calls of the turn that wait for a decision. */
  readonly print: (answer: Json, undecided: readonly TurnWait[]) => string;
  /** The answer block by block, never throwing; `failed` returns the client's form of an error. */
  readonly printEvents: (
    events: AsyncIterable<TurnEvent>,
    failed: (error: unknown) => Refusal,
  ) => AsyncIterable<string>;
}

export async function answerTurn(context: Turns, request: FastifyRequest, reply: FastifyReply, asked: AskedTurn) {
  try {
    return await answered(context, request, reply, asked);
  } catch (error) {
    await asked.ended?.(false);
    throw error;
  }
}

async function answered(
  context: Turns,
  request: FastifyRequest,
  reply: FastifyReply,
  { target, api, conversation, steps = false, body, ended, print, printEvents }: AskedTurn,
) {
  const { runTurn, lifecycleWaitMs, chatTimeoutMs, chatSilenceMs: silenceMs = defaultSilenceMs, log, cut } = context;
  const { id: agentId, member } = target;
  checkAgentId(agentId);
  request.scope.fields.agent_id = agentId;
  const answer = await runTurn({
    agentId,
    accountId: request.principal.accountId,
    member,
    conversation,
    origin: 'api',
    said: { api, body },
    steps,
    wake: (request.query as ChatQuery).wake === 'true',
    wakeTimeoutMs: lifecycleWaitMs,
    timeoutMs: chatTimeoutMs,
    signal: replySignal(reply, cut),
  });
  if (body['stream'] !== true) {
    const whole = await answer.body();
    await ended?.(true);
    return reply.type('application/json; charset=utf-8').send(print(whole, answer.undecided()));
  }
  const isLate = await isSilent(answer, silenceMs);
  const failed = (error: unknown): Refusal => reportError(log, brokenOff(error), request);
  const events = ended === undefined ? answer.events() : withEnd(answer.events(), ended);
  return sendEvents(reply, printEvents(events, failed), { silenceMs, isLate });
}

async function* withEnd(
  events: AsyncIterable<TurnEvent>,
  ended: (isAnswered: boolean) => Promise<void>,
): AsyncGenerator<TurnEvent> {
  let isAnswered = false;
  try {
    yield* events;
    isAnswered = true;
  } finally {
    await ended(isAnswered);
  }
}

/** An error that comes soon still has a status of its own; after that the stream begins, answer or not. */
const isSilent = ({ opened }: Answer, silenceMs: number): Promise<boolean> =>
  Promise.race([opened.then(() => false), setTimeout(silenceMs, true, { ref: false })]);
