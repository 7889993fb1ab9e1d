import type { Happening } from '@lodge/domain';
import type { ActorNote, ChangeNote } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import { actorOf } from './principal.ts';

/** The event of a change that this request makes. */
export const changeNote = (request: FastifyRequest, event: Happening): ChangeNote => ({ event, ...actorNote(request) });

/** Who makes the change, where its event is told by the store. */
export function actorNote(request: FastifyRequest): ActorNote {
  const { principal, idempotent } = request;
  return {
    by: { actor: actorOf(principal), address: request.ip, requestId: request.id },
    ...(idempotent && { idempotencyKey: idempotent.key }),
  };
}
