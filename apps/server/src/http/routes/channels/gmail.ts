import { AgentParams, OAuthSession, StartOAuth } from '@lodge/contract';
import type { Log } from '@lodge/ports';
import { checkAgentId } from '../../reply/agent-record.ts';
import { consentPage } from '../../reply/consent-page.ts';
import { toWire } from '../../reply/to-wire.ts';
import type { App } from '../../app-types.ts';
import type { Reached } from '../../context.ts';
import { consentUrl } from './consents.ts';
import { tags } from './shared.ts';
import type { ChannelNeeds } from './shared.ts';

const callbackPath = '/oauth/gmail/callback';

interface Needs extends ChannelNeeds, Reached {
  readonly log: Log;
}

/** `POST /v1/agents/:id/channels/gmail/oauth/start`, and the browser's return: `GET /oauth/gmail/callback`. */
export function gmailRoutes(app: App, needs: Needs): void {
  startRoute(app, needs, 'gmail');
  startRoute(app, needs, 'email');
  app.route({
    method: 'GET',
    url: callbackPath,
    schema: { hide: true },
    config: { public: true },
    handler: (request, reply) =>
      consentPage({ log: needs.log, origin: needs.origin() }, request, reply, async (back, signal) => {
        const { mailbox, returnUrl } = await needs.channels.gmail.finish(back, signal);
        return { title: 'Gmail is connected', text: `The agent now answers mail to ${mailbox}.`, returnUrl };
      }),
  });
}

function startRoute(app: App, { channels, origin }: Needs, name: 'gmail' | 'email'): void {
  app.route({
    method: 'POST',
    url: `/v1/agents/:id/channels/${name}/oauth/start`,
    schema: {
      hide: name === 'email',
      operationId: name === 'gmail' ? 'startGmailOAuth' : 'startEmailOAuth',
      tags,
      summary: 'Begin the consent for a mailbox',
      description:
        "Gives the address of a page of this service, on which the mailbox's owner is told which agent asks, and agrees or refuses, within 10 minutes and once. The page leads to Google, and Google leads the same browser back to this service, which keeps the consent encrypted and connects the channel. With `login_hint` no other mailbox is taken.",
      params: AgentParams,
      body: StartOAuth,
      response: { 200: { ...OAuthSession, 'x-response-description': 'The consent that is waited for.' } },
    },
    config: { scopes: ['agents:write'], secretReply: true, errors: ['agent_not_found', 'gmail_not_configured'] },
    handler: async (request) => {
      const { id } = request.params;
      checkAgentId(id);
      const { redirect_url: returnUrl = null, login_hint: loginHint = null } = request.body;
      const begun = await channels.gmail.start(request.principal.accountId, id, {
        redirectUri: origin() + callbackPath,
        returnUrl,
        loginHint,
      });
      const authorizationUrl = consentUrl(origin(), begun.pageToken);
      return toWire(OAuthSession, { ...begun, channel: 'gmail', status: 'pending', authorizationUrl });
    },
  });
}
