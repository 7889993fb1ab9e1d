import { Token, TokenRequest, grantTypes } from '@lodge/contract';
import { Refusal } from '@lodge/domain';
import type { Caller, Log, OAuth } from '@lodge/ports';
import type { App } from '../../app-types.ts';
import { callerOf } from '../account/replies.ts';
import { withForms, withOAuthErrors } from './form.ts';
import { tags } from './tags.ts';

interface Needs {
  readonly accounts: { readonly oauth: OAuth };
  readonly log: Log;
}

/** `POST /v1/oauth/token`. */
export function tokenRoute(app: App, { accounts: { oauth }, log }: Needs): void {
  withForms(app, (scope) => {
    withOAuthErrors(scope, log);
    scope.route({
      method: 'POST',
      url: '/v1/oauth/token',
      schema: {
        operationId: 'createToken',
        tags,
        summary: 'Fetch a key or a token',
        description:
          'A form, as RFC 6749 has it, or JSON. Errors are `{"error", "error_description"}`. With a device code: `authorization_pending` until the person has decided, `slow_down` where it is asked too often.',
        body: TokenRequest,
        response: { 200: { ...Token, 'x-response-description': 'The token, which is shown this once.' } },
      },
      config: {
        public: true,
        oauthErrors: true,
        errors: [
          'authorization_pending',
          'slow_down',
          'access_denied',
          'expired_token',
          'invalid_grant',
          'unsupported_grant_type',
          'quota_exceeded',
        ],
      },
      handler: (request) => tokenFor(oauth, request.body, callerOf(request)),
    });
  });
}

async function tokenFor(oauth: OAuth, body: TokenRequest, caller: Caller): Promise<Token> {
  switch (body.grant_type) {
    case grantTypes[0]: {
      const { key, record } = await oauth.redeemDevice(required(body, 'device_code'), caller);
      return { access_token: key, token_type: 'Bearer', scope: record.scopes.join(' '), key_id: record.id };
    }
    default:
      throw new Refusal('unsupported_grant_type', `grant_type must be one of ${grantTypes.join(', ')}.`);
  }
}

function required(body: TokenRequest, name: keyof TokenRequest): string {
  const value = body[name];
  if (value === undefined) throw new Refusal('invalid_request', `${name} is required.`);
  return value;
}
