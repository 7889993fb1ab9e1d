import { Nothing, RegisterClient, RegisteredClient, RevokeToken } from '@lodge/contract';
import type { OAuth } from '@lodge/engine';
import type { Log } from '@lodge/ports';
import type { App } from '../../app-types.ts';
import { callerOf } from '../account/replies.ts';
import { withForms, withOAuthErrors } from './form.ts';
import { tags } from './tags.ts';

interface Needs {
  readonly accounts: { readonly oauth: OAuth };
  readonly log: Log;
}

/** `POST /v1/oauth/register` and `/revoke`. */
export function clientRoutes(app: App, { accounts: { oauth }, log }: Needs): void {
  withForms(app, (scope) => {
    withOAuthErrors(scope, log);
    registerRoute(scope, oauth);
    revokeRoute(scope, oauth);
  });
}

function registerRoute(app: App, oauth: OAuth): void {
  app.route({
    method: 'POST',
    url: '/v1/oauth/register',
    schema: {
      operationId: 'registerOAuthClient',
      tags,
      summary: 'Register a program',
      description:
        'For programs that act for a person, such as MCP clients (RFC 7591). They have no secret and use PKCE. A program that nobody agreed to is forgotten after a week.',
      body: RegisterClient,
      response: { 201: { ...RegisteredClient, 'x-response-description': 'The program, with its id.' } },
    },
    config: { public: true, oauthErrors: true, errors: ['invalid_redirect_uri'] },
    handler: async ({ body, ip }, reply) => {
      const input = { name: body.client_name ?? null, redirectUris: body.redirect_uris };
      const { id, name, redirectUris } = await oauth.registerClient(input, ip);
      return reply.code(201).send({
        client_id: id,
        client_id_issued_at: Math.floor(Date.now() / 1000),
        client_name: name,
        redirect_uris: [...redirectUris],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none' as const,
      });
    },
  });
}

function revokeRoute(app: App, oauth: OAuth): void {
  app.route({
    method: 'POST',
    url: '/v1/oauth/revoke',
    schema: {
      operationId: 'revokeToken',
      tags,
      summary: 'Revoke a token',
      description:
        'Ends the access that a token belongs to, with all its tokens (RFC 7009). A token that is none is answered alike. A form or JSON.',
      body: RevokeToken,
      response: { 200: { ...Nothing, 'x-response-description': 'It is good no more.' } },
    },
    config: { public: true, oauthErrors: true },
    handler: async (request) => {
      const { token, client_id: clientId } = request.body;
      await oauth.revokeToken({ token, clientId }, callerOf(request));
      return {};
    },
  });
}
