import type { FailureFacts, ReportedError } from '@lodge/ports';

/** Translates an error in OpenAI's words, whichever runtime reports it. */
export function openaiFailure({ status, type, message, retryAfterSeconds }: ReportedError): FailureFacts {
  if (type === 'rate_limit_error') {
    return { kind: 'provider_rate_limit', retryAfterSeconds: retryAfterSeconds ?? secondsIn(message) };
  }
  if (typesOfKeys.has(type)) return { kind: 'provider_refused_key' };
  if (type === 'invalid_request_error') return { kind: 'request_refused', words: publicWords(message) };
  if (status === 503) return { kind: 'not_serving' };
  if (status === 413) return { kind: 'request_too_large' };
  return { kind: 'turn_failed' };
}

/** Types of errors that mean a refused key, or an account without credit. */
const typesOfKeys = new Set(['authentication_error', 'permission_error', 'insufficient_quota']);

/** Returns the seconds in the words of an error, for answers without the header. */
function secondsIn(message: string): number | null {
  const seconds = /Retry-After: (\d{1,9})(?!\d)/.exec(message)?.[1];
  return seconds === undefined ? null : Number(seconds);
}

/** Returns the seconds of a reply's header, or null. */
export const retryAfterOf = (header: unknown): number | null =>
  typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : null;

/** Returns the message as one line of bounded length. */
const publicWords = (message: string): string =>
  message
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 500)
    .trim();
