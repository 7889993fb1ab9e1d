import type { WaitQuery } from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AgentRow } from '@lodge/store/agents';
import { clientGone } from '../../pipeline/client-gone.ts';
import type { Waiting } from '../../needs.ts';

/** Whether the client wants 202 at once: `?wait=false`, or the preference of RFC 7240, which the reply then acknowledges. */
export function wantsNoWait(request: FastifyRequest, reply: FastifyReply): boolean {
  const { wait } = request.query as WaitQuery;
  if (wait !== undefined) return wait === 'false';
  const preferences = [request.headers['prefer'] ?? ''].flat().join();
  const prefers = /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i.test(preferences);
  if (prefers) reply.header('preference-applied', 'respond-async');
  return prefers;
}

/**
 * Returns the agent once its machine has applied the change, if one runs that will. Bounded, so the change may still be
 * pending.
 */
export async function afterEffect(context: Waiting, reply: FastifyReply, row: AgentRow): Promise<AgentRow> {
  const { agents, lifecycleWaitMs, closing } = context;
  if (agents.inEffect(row)) return row;
  const signal = AbortSignal.any([clientGone(reply), closing]);
  return agents.awaitInEffect(row.accountId, row.id, lifecycleWaitMs, signal);
}
