import type { Json } from '@lodge/domain';
import type { CallError, CallErrorKind } from '../call/call-error.ts';

const types: Readonly<Record<CallErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  not_found: 'invalid_request_error',
  too_large: 'invalid_request_error',
  rate_limit: 'rate_limit_error',
  server: 'server_error',
};

/** An error as OpenAI's APIs give it. */
export function openaiError({ kind, code, message }: CallError): Json {
  return { error: { message, type: types[kind], param: null, code } };
}
