import type { Happening } from '@lodge/domain';
import type { ActorNote, ChangeNote } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import { actorOf } from './principal.ts';

/** The event of a change that this request makes. */
export const changeNote = (request: FastifyRequest, event: Happening): ChangeNote => ({ event, ...actorNote(request) });

/** The actor of a change whose event the store writes. */
export function actorNote(request: FastifyRequest): ActorNote {
  const { principal, idempotent } = request;
  return {
    by: { actor: actorOf(principal), address: request.ip, requestId: request.id },
    ...(idempotent && { idempotencyKey: idempotent.key }),
  };
}
