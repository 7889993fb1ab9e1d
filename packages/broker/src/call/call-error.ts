import { NamedError } from '@lodge/domain';
import type { LlmCall } from '@lodge/ports';

/** A call's error, independent of any wire; each wire has its own names for it. */
export type CallErrorKind =
  | 'invalid_request'
  | 'authentication'
  | 'permission'
  | 'not_found'
  | 'too_large'
  | 'rate_limit'
  | 'server';

export interface CallErrorDetails {
  /** HTTP status the guest gets. */
  readonly status: number;
  readonly kind: CallErrorKind;
  /** Stable name of the cause, for wires that have room for one. */
  readonly code: string;
  /** How the call is recorded. */
  readonly outcome: LlmCall['outcome'];
  readonly retryAfterSeconds?: number;
  /** True where trying again by itself would be of no use: a client that heeds it tells its user at once. */
  readonly final?: true;
}

/** A call the broker itself ends. The message is for the agent and its user: nothing internal is in it. */
export class CallError extends NamedError {
  readonly status: number;
  readonly kind: CallErrorKind;
  readonly code: string;
  readonly outcome: LlmCall['outcome'];
  /** Undefined where waiting would not help. */
  readonly retryAfterSeconds: number | undefined;
  readonly final: boolean;

  constructor(message: string, details: CallErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.status = details.status;
    this.kind = details.kind;
    this.code = details.code;
    this.outcome = details.outcome;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.final = details.final ?? false;
  }
}

/** The request is at fault: 400, recorded as refused. */
export function invalidRequest(code: string, message: string): CallError {
  return new CallError(message, { status: 400, kind: 'invalid_request', code, outcome: 'refused' });
}

/** More than there is room for at the moment: 429, recorded as refused. */
export function tooMany(code: string, message: string, retryAfterSeconds: number): CallError {
  return new CallError(message, { status: 429, kind: 'rate_limit', code, outcome: 'refused', retryAfterSeconds });
}

/** The provider gave nothing that can be passed on: 502, or 504 when it was too slow. */
export function badProvider(
  message: string,
  outcome: 'provider_error' | 'unreachable',
  options?: ErrorOptions & { readonly timeout?: true },
): CallError {
  const [status, code] = options?.timeout ? [504, 'provider_timeout'] : [502, 'provider_unavailable'];
  return new CallError(message, { status, kind: 'server', code, outcome }, options);
}
