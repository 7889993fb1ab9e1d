import type { Json } from '@lodge/domain';
import type { FailureFacts, ReportedError, ReportedStep } from '@lodge/ports';
import { openaiFailure } from '../gateway/failures.ts';
import { textField } from '../gateway/json.ts';

/** Reads Hermes' report of a tool. It does not say whether a tool failed, and a tool without a better label has its name. */
export function toolStep(event: string, data: Json): ReportedStep | null {
  if (event !== 'hermes.tool.progress') return null;
  const isStart = data['status'] === 'running';
  if (!isStart && data['status'] !== 'completed') return null;
  const tool = textField(data, 'tool');
  const label = textField(data, 'label');
  return {
    call: textField(data, 'toolCallId'),
    tool,
    status: isStart ? 'started' : 'completed',
    title: label === tool ? '' : label,
  };
}

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
