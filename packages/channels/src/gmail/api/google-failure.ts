/** Failures of calls to Google. Errors of its libraries hold tokens and whole requests: they end here. */
import { boundedJson, NamedError } from '@lodge/domain';
import type { ChannelReason } from '@lodge/domain';
import { TooLargeError } from '../../shared/bounded.ts';
import { textOf } from '../../shared/plain.ts';

/**
 * - `fatal`: only a person can mend it.
 * - `limited`: too many calls; not before `retryAfterMs`.
 * - `refused`: this call will never succeed as it is.
 * - `too_large`: nor will this one, for its answer is larger than what is read.
 * - `unavailable`: Google could not just now; a send may have been done.
 * - `unreachable`: surely nothing was done.
 */
export type FailureKind =
  | 'fatal'
  | 'limited'
  | 'not_found'
  | 'unauthorized'
  | 'refused'
  | 'too_large'
  | 'unavailable'
  | 'unreachable';

export class GoogleFailure extends NamedError {
  readonly kind: FailureKind;
  readonly reason: ChannelReason;
  readonly retryAfterMs: number;
  constructor(kind: FailureKind, reason: ChannelReason, retryAfterMs = 0) {
    super(reason.message);
    this.kind = kind;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

export const revoked: ChannelReason = {
  code: 'revoked',
  message:
    'Google no longer accepts the consent for this mailbox: the consent screen is in "Testing" (7 days), access was removed, or the password was changed. Connect Gmail again.',
};
const badClient: ChannelReason = {
  code: 'invalid_credentials',
  message:
    "Google does not accept this server's OAuth client. Its operator must check the client ID and secret, then connect Gmail again.",
};
export const missingScope: ChannelReason = {
  code: 'missing_permission',
  message:
    'Gmail was connected without the permission to read and send mail. Connect it again and leave every box ticked.',
};
const apiDisabled: ChannelReason = {
  code: 'platform_refused',
  message:
    "The Gmail API is not enabled in the Google Cloud project of this server's OAuth client. Its operator must enable it.",
};
const noMailbox: ChannelReason = {
  code: 'restricted',
  message:
    'This Google account has no Gmail mailbox, or the administrator of its organisation does not allow this app.',
};
const limited: ChannelReason = { code: 'rate_limited', message: 'Gmail limits how often this mailbox may be used.' };
export const unavailable: ChannelReason = {
  code: 'platform_unreachable',
  message: 'Gmail does not answer as it should.',
};
const refused: ChannelReason = { code: 'platform_refused', message: 'Gmail refused a request.' };

const limits = ['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded', 'dailyLimitExceeded'];
const errorBounds = { bytes: 64 * 1024, depth: 16, elements: 1_000 };
const maxRetryAfterMs = 24 * 3_600_000;

/** The failure of an answer without success. */
export function failureOf(status: number, headers: Headers, body: Uint8Array): GoogleFailure {
  const { reasons, message } = errorIn(body);
  const has = (...words: string[]): boolean => reasons.some((reason) => words.includes(reason));
  const waitMs = retryAfterMs(headers.get('retry-after'), message);
  if (status === 429 || (status === 403 && has(...limits))) return new GoogleFailure('limited', limited, waitMs);
  if (status === 401) return new GoogleFailure('unauthorized', unavailable);
  if (status === 403 && has('insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'))
    return new GoogleFailure('fatal', missingScope);
  if (status === 403 && has('accessNotConfigured', 'SERVICE_DISABLED')) return new GoogleFailure('fatal', apiDisabled);
  if ((status === 403 && has('domainPolicy')) || (status === 400 && has('failedPrecondition')))
    return new GoogleFailure('fatal', noMailbox);
  if (status === 404) return new GoogleFailure('not_found', refused);
  if (status >= 400 && status < 500 && status !== 408) return new GoogleFailure('refused', refused);
  return new GoogleFailure('unavailable', unavailable, waitMs);
}

/** The failure in the token endpoint's answer to a refresh or a code; null: no verdict. */
export function tokenFailure(error: unknown): GoogleFailure | null {
  const response = (error as { readonly response?: { readonly status?: unknown; readonly data?: unknown } } | null)
    ?.response;
  const code = textOf((response?.data as { readonly error?: unknown } | null | undefined)?.error);
  switch (code) {
    case 'invalid_grant':
      return new GoogleFailure('fatal', revoked);
    case 'invalid_client':
    case 'unauthorized_client':
    case 'deleted_client':
    case 'disabled_client':
      return new GoogleFailure('fatal', badClient);
    case 'invalid_scope':
    case 'access_denied':
    case 'admin_policy_enforced':
      return new GoogleFailure('fatal', noMailbox);
    default:
      return response?.status === 429 ? new GoogleFailure('limited', limited, 30_000) : null;
  }
}

/** The failure of a call without an answer. */
export function brokenFailure(error: unknown): GoogleFailure {
  if (isCausedBy(error, (each) => each instanceof TooLargeError)) return new GoogleFailure('too_large', unavailable);
  return new GoogleFailure(isCausedBy(error, isBeforeRequest) ? 'unreachable' : 'unavailable', unavailable);
}

const beforeRequest = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID',
]); // prettier-ignore

/** No connection was made. The errors within one are those of several addresses that were tried. */
function isBeforeRequest(error: Error): boolean {
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((each) => isCausedBy(each, isBeforeRequest));
  return 'code' in error && typeof error.code === 'string' && beforeRequest.has(error.code);
}

/** Whether this holds of an error or of one of its causes. */
function isCausedBy(error: unknown, holds: (error: Error) => boolean): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if (holds(at)) return true;
  }
  return false;
}

function errorIn(body: Uint8Array): { readonly reasons: readonly string[]; readonly message: string } {
  try {
    const { error } = boundedJson(body, errorBounds) as { error?: Record<string, unknown> };
    const listed = (list: unknown): string[] =>
      Array.isArray(list) ? list.map((each: { reason?: unknown } | null) => textOf(each?.reason)) : [];
    const reasons = [...listed(error?.['errors']), ...listed(error?.['details']), textOf(error?.['status'])];
    return { reasons, message: textOf(error?.['message'], 1_000) };
  } catch {
    return { reasons: [], message: '' };
  }
}

/** By the header, or by the time that Gmail writes into the sentence about its limit on sends. */
function retryAfterMs(header: string | null, message: string): number {
  const seconds = header === null ? Number.NaN : Number(header);
  if (Number.isFinite(seconds) && seconds >= 0) return Math.min(maxRetryAfterMs, Math.ceil(seconds * 1_000));
  const [time] = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z/.exec(message) ?? [];
  const waitMs = time === undefined ? 0 : Date.parse(time) - Date.now();
  return Math.min(maxRetryAfterMs, Math.max(0, waitMs));
}
