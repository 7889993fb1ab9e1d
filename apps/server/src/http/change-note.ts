import type { AuditDetail, ChangeNote } from '@lodge/engine/ports';
import type { FastifyRequest } from 'fastify';

/** What is written with a change of an agent that this request makes. */
export function changeNote(
  request: FastifyRequest,
  action: `agent.${string}`,
  agentId: string,
  details: Readonly<Record<string, AuditDetail>> = {},
): ChangeNote {
  const { principal, idempotent } = request;
  return {
    audit: {
      accountId: principal.accountId,
      actor: { kind: 'api_key', id: principal.keyId },
      action,
      target: { kind: 'agent', id: agentId },
      address: request.ip,
      requestId: request.id,
      details,
    },
    ...(idempotent && { idempotencyKey: idempotent.key }),
  };
}
