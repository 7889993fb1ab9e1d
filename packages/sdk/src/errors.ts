import type { ErrorBody } from './types.ts';

/** Codes of the API's errors today. New ones may come within v1. */
export type ErrorCode = ErrorBody['error']['code'] | (string & {});

/** Anything that the SDK throws, but for an abort, which throws the reason of its signal. */
export class LodgeError extends Error {
  override name = 'LodgeError';
}

export interface ApiErrorFacts {
  /** Status of the HTTP reply. */
  readonly status: number;
  readonly code: ErrorCode;
  readonly type: string;
  /** `X-Request-Id` of the reply: it names the request for the operator of the service. */
  readonly requestId: string | undefined;
  /** The field or parameter that a 400 is about, as in `llm_keys[0].api_key`. */
  readonly field: string | undefined;
  /** Further facts of the reply, such as `agent_id`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Seconds after which trying again may help. */
  readonly retryAfterSeconds: number | undefined;
}

/** The API refused a request, or failed at it. */
export class ApiError extends LodgeError implements ApiErrorFacts {
  override name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly type: string;
  readonly requestId: string | undefined;
  readonly field: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, facts: Pick<ApiErrorFacts, 'status' | 'code'> & Partial<ApiErrorFacts>) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.type = facts.type ?? 'api_error';
    this.requestId = facts.requestId;
    this.field = facts.field;
    this.details = facts.details ?? {};
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** 400, 413, 415 and the like: the request is wrong as it is. */
export class BadRequestError extends ApiError {
  override name = 'BadRequestError';
}
/** 401: no key, a wrong one, or nobody is signed in. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}
/** 403: the key may not do this. */
export class PermissionError extends ApiError {
  override name = 'PermissionError';
}
/** 404. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}
/** 409 and 412: it does not go with what is so now. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}
/** 429: too many requests, or a limit is reached. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}
/** 5xx. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

/** No reply came, or it broke off. Whether the request had an effect may be unknown. */
export class ConnectionError extends LodgeError {
  override name = 'ConnectionError';
  /** False: the server cannot have got the request. */
  readonly mayHaveBeenSent: boolean;

  constructor(message: string, { cause, mayHaveBeenSent = true }: { cause?: unknown; mayHaveBeenSent?: boolean } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.mayHaveBeenSent = mayHaveBeenSent;
  }
}

/** No byte came for `timeoutMs`, or a wait took longer than its own bound. */
export class TimeoutError extends LodgeError {
  override name = 'TimeoutError';
}

/** An agent came into another state than the one waited for, and stays there. */
export class StateError extends LodgeError {
  override name = 'StateError';
}

/** A webhook's signature is missing, wrong or too old. */
export class SignatureError extends LodgeError {
  override name = 'SignatureError';
}

/** Whether it is an error of the API, of this code where one is given. */
export function isApiError(error: unknown, code?: ErrorCode): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  429: RateLimitError,
};

const maxMessage = 4_000;
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, maxMessage) : undefined;

/** The error of a reply that is not 2xx, from its body, which need not be the API's: a proxy may have answered. */
export function errorOfReply(status: number, headers: Headers, body: string): ApiError {
  let given: Record<string, unknown> = {};
  try {
    const { error, error_description: message } = JSON.parse(body) as { error?: unknown; error_description?: unknown };
    if (typeof error === 'object' && error !== null) given = error as Record<string, unknown>;
    // OAuth has another form (RFC 6749, 5.2).
    if (typeof error === 'string') given = { type: 'invalid_request_error', code: error, message };
  } catch {
    // The status says enough.
  }
  const { type, code, message, ...others } = given;
  const retryAfter = Number.parseInt(headers.get('retry-after') ?? '', 10);
  const agentId = headers.get('x-agent-id');
  const words = text(message) ?? `The server replied with status ${status}.`;
  const Class = classes[status] ?? (status >= 500 ? ServerError : BadRequestError);
  return new Class(words, {
    status,
    code: text(code) ?? `http_${status}`,
    type: text(type) ?? 'api_error',
    requestId: headers.get('x-request-id') ?? undefined,
    // The API's refusals begin with the name of the field.
    field: code === 'invalid_request' ? /^[a-z][\w.[\]-]{0,200}(?= )/.exec(words)?.[0] : undefined,
    details: { ...others, ...(agentId !== null && { agent_id: agentId }) },
    retryAfterSeconds: retryAfter >= 0 ? retryAfter : undefined,
  });
}

const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  authorization_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
};

/** The error that an event of a stream tells of, in the class that its type has. */
export function errorOfEvent(body: unknown, headers: Headers): ApiError {
  const { error = body } = (body ?? {}) as { error?: unknown };
  const { type = '' } = (error ?? {}) as { type?: string };
  return errorOfReply(statuses[type] ?? 500, headers, JSON.stringify({ error }));
}
