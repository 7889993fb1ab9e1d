import type { FailureFacts, ReportedError } from '@lodge/ports';
import { openaiFailure } from '../gateway/failures.ts';

/**
 * Translates a failure. Hermes reports a provider's refusal only by its status, as `HTTP <status>: <words>` in the message
 * of its own error.
 */
export function turnFailure(reported: ReportedError): FailureFacts {
  const [, status = '', message = ''] = /^HTTP (\d{3}): (.*)$/s.exec(reported.message) ?? [];
  if (status === '') return openaiFailure(reported);
  return openaiFailure({ ...reported, type: typesByStatus[status] ?? 'server_error', message: message.trim() });
}

const typesByStatus: Readonly<Record<string, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'invalid_request_error',
  409: 'invalid_request_error',
  413: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
};
