import type { Happening } from '@lodge/domain';
import type { ChangeNote } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import { actorOf } from './principal.ts';

/** The event of a change that this request makes. */
export function changeNote(request: FastifyRequest, event: Happening): ChangeNote {
  const { principal, idempotent } = request;
  return {
    event,
    by: { actor: actorOf(principal), address: request.ip, requestId: request.id },
    ...(idempotent && { idempotencyKey: idempotent.key }),
  };
}
