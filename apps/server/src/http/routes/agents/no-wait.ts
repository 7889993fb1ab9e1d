import type { WaitQuery } from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Whether the client wants 202 at once: `?wait=false`, or the preference of RFC 7240, which the reply then acknowledges. */
export function wantsNoWait(request: FastifyRequest, reply: FastifyReply): boolean {
  const { wait } = request.query as WaitQuery;
  if (wait !== undefined) return wait === 'false';
  const preferences = [request.headers['prefer'] ?? ''].flat().join();
  const prefers = /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i.test(preferences);
  if (prefers) reply.header('preference-applied', 'respond-async');
  return prefers;
}
