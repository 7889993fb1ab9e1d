import { ConnectionOAuthSession, ConnectionParams, StartConnectionOAuth } from '@lodge/contract';
import type { Connections } from '@lodge/engine';
import type { Log } from '@lodge/ports';
import { clientGone } from '../../pipeline/client-gone.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { consentPage } from '../../reply/consent-page.ts';
import { consentUrl } from '../channels/consents.ts';
import type { App } from '../../app-types.ts';
import type { Reached } from '../../context.ts';

const callbackPath = '/oauth/connections/callback';

interface Needs extends Reached {
  readonly connections: Connections;
  readonly log: Log;
}

/** `POST /v1/agents/:id/connections/:name/oauth/start`, and the browser's return: `GET /oauth/connections/callback`. */
export function connectionOAuthRoutes(app: App, needs: Needs): void {
  startRoute(app, needs);
  app.route({
    method: 'GET',
    url: callbackPath,
    schema: { hide: true },
    config: { public: true },
    handler: (request, reply) =>
      consentPage({ log: needs.log, origin: needs.origin() }, request, reply, async (back, signal) => {
        const { connection, returnUrl } = await needs.connections.oauth.finish(back, signal);
        return { title: 'Connected', text: `The agent can now use ${connection}.`, returnUrl };
      }),
  });
}

function startRoute(app: App, { connections, origin }: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/connections/:name/oauth/start',
    schema: {
      operationId: 'startConnectionOAuth',
      tags: ['Connections'],
      summary: 'Begin the consent for a connection',
      description:
        'For connections with OAuth. Gives the address of a page of this service, on which somebody is told which agent asks, and agrees or refuses, within 10 minutes and once. The page leads to the authorization server, which leads the same browser back to this service, which keeps the access encrypted on the host, and renews it.',
      params: ConnectionParams,
      body: StartConnectionOAuth,
      response: { 200: { ...ConnectionOAuthSession, 'x-response-description': 'The consent that is waited for.' } },
    },
    config: {
      scopes: ['agents:write'],
      secretReply: true,
      errors: ['agent_not_found', 'connection_not_found', 'oauth_not_configured', 'oauth_not_possible'],
    },
    handler: async (request, reply) => {
      const { id: agentId, name } = request.params;
      checkAgentId(agentId);
      const { redirect_url: returnUrl = null, scope = null } = request.body;
      const place = { accountId: request.principal.accountId, agentId, name };
      const ask = { redirectUri: origin() + callbackPath, returnUrl, scope };
      const { id, pageToken, state, expiresAt } = await connections.oauth.start(place, ask, clientGone(reply));
      return {
        object: 'oauth_session' as const,
        id,
        connection: name,
        status: 'pending' as const,
        authorization_url: consentUrl(origin(), pageToken),
        state,
        expires_at: expiresAt.toISOString(),
      };
    },
  });
}
