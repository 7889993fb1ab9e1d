import { NamedError } from '@lodge/domain';

/**
 * A call of a platform that did not succeed. Libraries' errors carry headers and bodies of requests, so none of them goes on as
 * its cause.
 *
 * - `refused`: the platform's answer was no.
 * - `limited`: too many calls, nothing was done.
 * - `unreached`: the call never left.
 * - `unclear`: whether it was carried out is not known.
 */
export class PlatformError extends NamedError {
  readonly kind: 'refused' | 'limited' | 'unreached' | 'unclear';
  readonly retryAfterMs: number;
  constructor(kind: PlatformError['kind'], message: string, retryAfterMs = 0) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

const neverLeftCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether a request never left. Looks through the causes, of which there are few. */
export function neverLeft(error: unknown): boolean {
  let at = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    const { code, original, cause } = at as Error & { readonly code?: unknown; readonly original?: unknown };
    if (typeof code === 'string' && neverLeftCodes.has(code)) return true;
    at = original ?? cause;
  }
  return false;
}
