import { AgentParams } from '@lodge/contract';
import type { ChatQuery } from '@lodge/contract';
import { environmentOf } from '@lodge/domain';
import type { Variables } from '@lodge/domain';
import { bounded } from '@lodge/engine';
import type { GuestClient } from '@lodge/guest';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { checkAgentId } from '../reply/agent-record.ts';
import { replySignal } from '../pipeline/client-gone.ts';
import type { GuestAccess } from '../needs.ts';

export interface LiveGuest {
  readonly guest: GuestClient;
  /** The owner's variables, which commands have. */
  readonly env: Variables;
  /** Aborts when the reply is over, however it ended. */
  readonly signal: AbortSignal;
}

/** The guest of the agent in the request's path, running: it is kept awake until the reply is over, or for `timeoutMs`. */
export async function liveGuest(
  access: GuestAccess,
  request: FastifyRequest,
  reply: FastifyReply,
  timeoutMs: number,
): Promise<LiveGuest> {
  const { id } = request.params as Static<typeof AgentParams>;
  checkAgentId(id);
  const wake = (request.query as ChatQuery).wake === 'true';
  return guestOfAgent(access, { id, wake, timeoutMs }, request, reply);
}

/** The guest of an agent of the account, as `liveGuest`. */
export async function guestOfAgent(
  { agents, guestAt, lifecycleWaitMs, cut }: GuestAccess,
  { id, wake, timeoutMs }: { readonly id: string; readonly wake: boolean; readonly timeoutMs: number },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<LiveGuest> {
  const { signal } = bounded(replySignal(reply, cut), timeoutMs);
  const live = await agents.use(request.principal.accountId, id, { wake, timeoutMs: lifecycleWaitMs, signal });
  if (!signal.aborted) signal.addEventListener('abort', live.release, { once: true });
  else {
    live.release();
    throw signal.reason;
  }
  return { guest: guestAt(live.guest), env: environmentOf(live.row.env, live.row.hostAccess), signal };
}
