import type { AgentRow } from '@lodge/ports';
import type { FastifyReply } from 'fastify';
import { clientGone } from '../../pipeline/client-gone.ts';
import type { Waiting } from '../../needs.ts';

/** The agent once its machine has taken over what was changed, where one runs that will; bounded, so perhaps as it is then. */
export async function afterEffect(context: Waiting, reply: FastifyReply, row: AgentRow): Promise<AgentRow> {
  const { agents, lifecycleWaitMs, closing } = context;
  if (agents.inEffect(row)) return row;
  const signal = AbortSignal.any([clientGone(reply), closing]);
  return agents.awaitInEffect(row.accountId, row.id, lifecycleWaitMs, signal);
}
