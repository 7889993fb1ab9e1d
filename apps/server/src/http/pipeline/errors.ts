import type { ErrorCode } from '@lodge/domain';
import { Refusal, errorCodes } from '@lodge/domain';
import type { Socket } from 'node:net';
import { errorBody } from '@lodge/contract';
import { DatabaseBusyError, InvalidCursorError } from '@lodge/ports';
import type { Log } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastWords } from '../listener/last-words.ts';
import { makeRequestId } from './request-id.ts';

/** Seconds after which trying again may help, for the codes that promise a Retry-After. */
const usualRetryAfterSeconds: Partial<Record<ErrorCode, number>> = {
  rate_limit_exceeded: 30,
  quota_exceeded: 60,
  insufficient_capacity: 30,
  agent_unavailable: 5,
  agent_transitioning: 1,
  idempotency_in_progress: 2,
};

/** Whoever repeats these waits in vain. OpenAI's clients repeat a 429 by themselves. */
const finalCodes: ReadonlySet<ErrorCode> = new Set(['spend_limit_exceeded', 'loop_detected', 'quota_exceeded']);

/** Fastify's own refusals in the contract's words. */
const fastifyErrors: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['request_too_large', 'The body is larger than 1 MiB.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as Content-Length says.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not valid percent-encoding.'],
};

export const internalError = (cause: unknown): Refusal =>
  new Refusal('internal_error', 'Something went wrong on our side. The X-Request-Id of this reply helps to find it.', {
    cause,
  });

const overloaded = (cause: DatabaseBusyError): Refusal =>
  new Refusal('insufficient_capacity', 'This service has more to do than it can at the moment. Try again shortly.', {
    retryAfterSeconds: 2,
    cause,
  });

/** A client's form of any error. Only texts for clients pass; any other error is an internal error. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof InvalidCursorError) return new Refusal('invalid_request', error.message);
  if (error instanceof DatabaseBusyError) return overloaded(error);
  const { code, statusCode } = (error ?? {}) as { readonly code?: unknown; readonly statusCode?: unknown };
  const known = typeof code === 'string' ? fastifyErrors[code] : undefined;
  if (known) return new Refusal(...known);
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Refusal('invalid_request', 'The request is malformed.', { cause: error });
  }
  return internalError(error);
}

/** Returns a client's form of an error; the log gets the rest. */
export function reportError(log: Log, error: unknown, request: FastifyRequest): Refusal {
  const known = toRefusal(error);
  if (known.cause !== undefined) {
    const fields = { err: known.cause, ...request.scope.fields, route: request.routeOptions.url };
    log[levelOf(known)](fields, known.message);
  }
  return known;
}

/** The operator must know of a bug of Lodge's, or a service that is too small. */
const levelOf = ({ code }: Refusal): 'error' | 'warn' | 'info' =>
  code === 'internal_error' ? 'error' : code === 'insufficient_capacity' ? 'warn' : 'info';

/** Headers of a refusal. */
export function refusalHeaders({ code, agentId, retryAfterSeconds, mayRepeat }: Refusal): Record<string, string> {
  const retryAfter = retryAfterSeconds ?? usualRetryAfterSeconds[code];
  return {
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(code === 'provisioning_failed' && agentId !== undefined && { 'x-agent-id': agentId }),
    ...((!mayRepeat || finalCodes.has(code)) && { 'x-should-retry': 'false' }),
    ...(errorCodes[code].status === 401 && { 'www-authenticate': 'Bearer' }),
  };
}

/** The one place where error replies are made. */
export function sendError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = reportError(log, error, request);
  const { status } = errorCodes[known.code];
  if (reply.sent) return;
  void reply
    .code(status)
    .headers({
      'x-request-id': request.id,
      ...refusalHeaders(known),
      // A route may have said more of how to enter.
      ...(reply.hasHeader('www-authenticate') && { 'www-authenticate': reply.getHeader('www-authenticate') }),
    })
    .type('application/json; charset=utf-8')
    // Text passes Fastify's serialisers untouched, whatever schema the route has for replies.
    .send(JSON.stringify(errorBody(known.code, known.message, known.findings)));
}

/** Answers bytes that are no HTTP request: then there is only a socket, and nothing to route. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  // A client that is gone hears nothing, and after a failed TLS handshake nothing can be sent.
  const isGone = ['ECONNRESET', 'ERR_SSL_', 'ERR_TLS_'].some((code) => error.code?.startsWith(code));
  if (isGone || socket.destroyed) return void socket.destroy();
  const [status, code, message]: readonly [string, ErrorCode, string] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'request_too_large', 'The headers are too large.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'invalid_request', 'The request took too long to arrive.']
        : ['400 Bad Request', 'invalid_request', 'This is not a valid HTTP request.'];
  const body = JSON.stringify(errorBody(code, message));
  lastWords(
    socket,
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${makeRequestId()}\r\nConnection: close\r\n\r\n${body}`,
  );
}
