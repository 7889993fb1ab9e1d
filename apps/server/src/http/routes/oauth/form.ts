/** Bodies and errors of OAuth's own endpoints, as their RFCs have them: forms, and `{"error", "error_description"}`. */
import type { OAuthErrorBody } from '@lodge/contract';
import { Refusal, errorCodes } from '@lodge/domain';
import type { ErrorCode } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import type { App } from '../../app-types.ts';
import { parseQuery } from '../../pipeline/query.ts';
import { refusalHeaders, reportError } from '../../pipeline/errors.ts';

const maxFormBytes = 64 * 1024;

/** Adds routes that take a form beside JSON. Other routes take JSON alone. */
export function withForms(app: App, add: (scope: App) => void): void {
  app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: maxFormBytes },
      (_request, text, done) => {
        try {
          done(null, parseForm(String(text)));
        } catch (error) {
          done(error as Error);
        }
      },
    );
    add(scope);
  });
}

/** Reads a form. No field may come twice (RFC 6749, section 3.2), and an empty one counts as absent. */
function parseForm(text: string): Record<string, string> {
  const form: Record<string, string> = {};
  const parsed = parseQuery(text);
  if (Object.getOwnPropertySymbols(parsed).length > 0) {
    throw new Refusal('invalid_request', 'The body is not valid percent-encoding.');
  }
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value !== 'string' || name === '__proto__') {
      throw new Refusal('invalid_request', `The field ${JSON.stringify(name.slice(0, 64))} is given twice.`);
    }
    if (value !== '') form[name] = value;
  }
  return form;
}

/** Codes of ours that the RFCs know by the same name. */
const ownWords: ReadonlySet<ErrorCode> = new Set([
  'invalid_request',
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
  'invalid_client',
  'invalid_grant',
  'invalid_redirect_uri',
  'invalid_target',
  'invalid_scope',
  'unsupported_grant_type',
]);

/** The RFCs' name of a refusal. */
export function oauthErrorOf(code: ErrorCode): string {
  if (ownWords.has(code)) return code;
  const { status } = errorCodes[code];
  if (status === 429 || status === 503) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

export const oauthErrorBody = (code: ErrorCode, message: string): OAuthErrorBody => ({
  error: oauthErrorOf(code),
  error_description: message,
});

/** Makes a scope's routes write their errors as RFC 6749 has them. */
export function withOAuthErrors(scope: App, log: Log): void {
  scope.setErrorHandler((error, request, reply) => {
    const known = reportError(log, error, request);
    return reply
      .code(errorCodes[known.code].status)
      .headers({ 'x-request-id': request.id, ...refusalHeaders(known) })
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(oauthErrorBody(known.code, known.message)));
  });
}
