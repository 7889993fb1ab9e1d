/**
 * Acts as root of an agent's machine. Each is written to the audit log before it begins, without its contents. Because each
 * writes an event, it counts among the changes of its key too: else commands could push others' events out of the log.
 */
import type { AgentParams } from '@lodge/contract';
import type { Agents } from '@lodge/engine';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { actorNote } from '../identity/change-note.ts';
import type { Limits } from '../pipeline/limits/limits.ts';

export interface RootActs {
  readonly agents: Agents;
  readonly limiter: Limits | null;
}

/** Refuses with 429. It comes first: no machine is woken for a refused call. */
export async function countRoot({ limiter }: RootActs, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await limiter?.byChange(request, reply);
}

export async function recordRoot(
  { agents }: RootActs,
  request: FastifyRequest,
  by: 'exec' | 'terminal',
): Promise<void> {
  const { id } = request.params as Static<typeof AgentParams>;
  const event = { type: 'agent.root_used', data: { by } } as const;
  await agents.record(request.principal.accountId, id, event, actorNote(request).by);
}
