import type { ChatEndpoint } from '@lodge/engine/ports';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import { ApiError } from '../errors.ts';

/** A gateway is a hop away on this host: it takes a connection at once or not at all. */
const connectTimeoutMs = 5_000;

export type GatewayReply = Dispatcher.ResponseData;

/** OpenAI's APIs that an agent answers on, as paths under its base URL. */
export type TurnApi = 'chat/completions' | 'responses';

/** Speaks to the gateways inside guests. */
export interface GatewayClient {
  /** Sends a turn; resolves with the reply's head. `signal` bounds head and body alike. */
  send(endpoint: ChatEndpoint, api: TurnApi, body: string, signal: AbortSignal): Promise<GatewayReply>;
  close(): Promise<void>;
}

export function createGatewayClient(): GatewayClient {
  const dispatcher = new Agent({
    // A connection per turn: an address may be another agent's a moment later, so none is kept.
    pipelining: 0,
    connect: { timeout: connectTimeoutMs },
    // The turn's signal is the bound.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send(endpoint, api, body, signal) {
      const url = new URL(`${endpoint.baseUrl}/${api}`);
      return dispatcher.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: { ...endpoint.headers, 'content-type': 'application/json' },
        body,
        signal,
      });
    },
    close: () => dispatcher.destroy(),
  };
}

/** Nothing is repeated by OpenAI's clients that says so: a turn may have acted before it failed. */
const doNotRepeat = { 'x-should-retry': 'false' };

/** A turn took longer than the deployment allows. */
export const tooSlow = (timeoutMs: number): ApiError =>
  new ApiError('agent_unavailable', `The agent did not finish within ${Math.round(timeoutMs / 1000)} seconds.`, {
    headers: doNotRepeat,
  });

/** Errors of a connection that never came about: nothing of the turn has happened then. */
const neverConnected = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/** What the client is told when the connection to the gateway failed. */
export function connectionError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (neverConnected.has(String((error as { readonly code?: unknown }).code))) return notAnswering(error);
  return new ApiError('agent_unavailable', 'The agent stopped before its answer was complete.', {
    cause: error,
    headers: doNotRepeat,
  });
}

const notAnswering = (cause: unknown): ApiError =>
  new ApiError('agent_unavailable', 'The agent does not answer at the moment. Try again shortly.', { cause });

/** A gateway's error reply, or the error in its stream (then without a status). */
export interface GatewayFailure {
  readonly status?: number;
  readonly type: string;
  readonly message: string;
  readonly retryAfter?: string;
}

/** Says in the contract's terms why a turn failed. The gateway's own words pass only where they speak of the request. */
export function gatewayError(failure: GatewayFailure): ApiError {
  const { status, type, message } = withProvidersType(failure);
  const cause = new Error(`gateway: ${status ?? 'stream'} ${type}: ${message}`);
  if (type === 'rate_limit_error') {
    const seconds = failure.retryAfter ?? /Retry-After: (\d+)/.exec(message)?.[1];
    const headers = { ...doNotRepeat, ...(seconds && { 'retry-after': seconds }) };
    return new ApiError('rate_limit_exceeded', "The agent's LLM provider answered: too many requests.", {
      cause,
      headers,
    });
  }
  if (refusedKey.test(type) || /auth\/billing failure/.test(message)) {
    return new ApiError(
      'invalid_request',
      "The LLM provider refused the agent's key (llm_keys), or its account has no credit.",
      { cause },
    );
  }
  if (type === 'invalid_request_error') return new ApiError('invalid_request', publicText(message), { cause });
  if (status === 503) return notAnswering(cause);
  if (status === 413) return new ApiError('request_too_large', 'The messages are too large for the agent.', { cause });
  const upstream = /^upstream provider (\w+)/.exec(message)?.[1];
  const text = upstream ? `The agent's LLM provider failed (${upstream}).` : 'The agent could not finish this turn.';
  return new ApiError('internal_error', text, { cause, headers: doNotRepeat });
}

/** Hermes tells of a provider's refusal by its status alone. */
function withProvidersType(failure: GatewayFailure): GatewayFailure {
  const [, status = '', message = ''] = /^HTTP (\d{3}): (.*)$/s.exec(failure.message) ?? [];
  if (status === '') return failure;
  return { ...failure, type: typesByStatus[status] ?? 'server_error', message: message.trim() };
}

const typesByStatus: Readonly<Record<string, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'invalid_request_error',
  409: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
};

const refusedKey = /^(?:authentication_error|permission_error|insufficient_quota)$/;

/** One line of bounded length. */
const publicText = (message: string): string =>
  message
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 500)
    .trim() || 'The agent refused the request.';
