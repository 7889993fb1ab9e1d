import { Token, TokenRequest, grantTypes } from '@lodge/contract';
import { Refusal } from '@lodge/domain';
import type { Caller, GrantTokens, OAuth } from '@lodge/engine';
import type { Log } from '@lodge/ports';
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
          'A form, as RFC 6749 has it, or JSON. Errors are `{"error", "error_description"}`. With a code, access for an hour and a refresh token, which is replaced with each use. With a device code: `authorization_pending` until the person has decided, `slow_down` where it is asked too often.',
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
          'invalid_scope',
          'invalid_target',
          'unsupported_grant_type',
          'quota_exceeded',
        ],
      },
      handler: (request) => tokenFor(oauth, request.body, callerOf(request)),
    });
  });
}

async function tokenFor(oauth: OAuth, body: TokenRequest, caller: Caller): Promise<Token> {
  const { resource = null, scope = null } = body;
  const clientId = (): string => required(body, 'client_id');
  switch (body.grant_type) {
    case grantTypes[0]: {
      const { key, record } = await oauth.redeemDevice(required(body, 'device_code'), caller);
      return { access_token: key, token_type: 'Bearer', scope: record.scopes.join(' '), key_id: record.id };
    }
    case grantTypes[1]: {
      const code = required(body, 'code');
      const redirectUri = required(body, 'redirect_uri');
      const codeVerifier = required(body, 'code_verifier');
      const input = { code, clientId: clientId(), redirectUri, codeVerifier, resource };
      return tokenOf(await oauth.exchangeCode(input, caller));
    }
    case grantTypes[2]: {
      const refreshToken = required(body, 'refresh_token');
      return tokenOf(await oauth.refresh({ refreshToken, clientId: clientId(), scope, resource }, caller));
    }
    default:
      throw new Refusal('unsupported_grant_type', `grant_type must be one of ${grantTypes.join(', ')}.`);
  }
}

const tokenOf = ({ access, refresh, expiresInSeconds, scopes, grantId }: GrantTokens): Token => ({
  access_token: access,
  token_type: 'Bearer',
  expires_in: expiresInSeconds,
  refresh_token: refresh,
  scope: scopes.join(' '),
  key_id: grantId,
});

function required(body: TokenRequest, name: keyof TokenRequest): string {
  const value = body[name];
  if (value === undefined) throw new Refusal('invalid_request', `${name} is required.`);
  return value;
}
