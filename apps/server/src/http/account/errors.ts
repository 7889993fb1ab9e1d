import { accountErrorCodes, errorCodes } from '@lodge/contract';
import { AccountRefusal } from '@lodge/engine/ports';
import type { Log } from '@lodge/engine/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendError } from '../errors.ts';

export const codes = { ...errorCodes, ...accountErrorCodes };

/** The contract's envelope, with the codes that only the account area has. */
export function sendAccountError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof AccountRefusal)) {
    sendError(log, error, request, reply);
    return;
  }
  if (reply.sent) return;
  const { status, type } = codes[error.code];
  if (status === 401) reply.header('www-authenticate', 'Cookie');
  if (status === 429) reply.header('retry-after', error.retryAfterSeconds ?? 60);
  void reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error: { type, code: error.code, message: error.message } }));
}
