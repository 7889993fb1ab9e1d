import { Refusal } from '@lodge/domain';
import { AgentParams, NoQuery, OAuthSession, StartOAuth } from '@lodge/contract';
import type { Log } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkAgentId } from '../../reply/agent-record.ts';
import { smallPage } from '../../reply/small-page.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import { reportError } from '../../pipeline/errors.ts';
import type { App } from '../../app-types.ts';
import { policy } from '../../pages.ts';
import { tags } from './shared.ts';
import type { ChannelNeeds } from './shared.ts';

const callbackPath = '/oauth/gmail/callback';
const maxCodeChars = 2_000;

interface Needs extends ChannelNeeds {
  readonly log: Log;
}

/** `POST /v1/agents/:id/channels/gmail/oauth/start`, and where the browser comes back: `GET /oauth/gmail/callback`. */
export function gmailRoutes(app: App, needs: Needs): void {
  startRoute(app, needs, 'gmail');
  startRoute(app, needs, 'email');
  app.route({
    method: 'GET',
    url: callbackPath,
    schema: { hide: true },
    config: { public: true },
    handler: (request, reply) => callback(needs, request, reply),
  });
}

function startRoute(app: App, { channels: { channels, origin } }: Needs, name: 'gmail' | 'email'): void {
  app.route({
    method: 'POST',
    url: `/v1/agents/:id/channels/${name}/oauth/start`,
    schema: {
      hide: name === 'email',
      operationId: name === 'gmail' ? 'startGmailOAuth' : 'startEmailOAuth',
      tags,
      summary: 'Begin the consent for a mailbox',
      description:
        "Gives the address at which the mailbox's owner allows access, within 10 minutes and once. Google leads the browser back to this service, which keeps the consent encrypted and connects the channel.",
      params: AgentParams,
      querystring: NoQuery,
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
      return {
        object: 'oauth_session' as const,
        id: begun.id,
        channel: 'gmail' as const,
        status: 'pending' as const,
        authorization_url: begun.authorizationUrl,
        state: begun.state,
        expires_at: begun.expiresAt.toISOString(),
      };
    },
  });
}

/** Whoever comes here is a browser: it is shown a page, whatever came of it. */
async function callback({ channels: { channels }, log }: Needs, request: FastifyRequest, reply: FastifyReply) {
  reply.type('text/html; charset=utf-8').headers({
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  try {
    const { state, code } = backFrom(request.query);
    const { mailbox, returnUrl } = await channels.gmail.finish({ state, code }, clientGone(reply));
    const link = returnUrl === null ? null : { url: returnUrl, text: 'Go on' };
    return smallPage('Gmail is connected', `The agent now answers mail to ${mailbox}.`, link);
  } catch (error) {
    const known = reportError(log, error, request);
    return reply
      .code(known.code === 'internal_error' ? 500 : 400)
      .send(smallPage('This did not work', `${known.message} Begin again where you came from.`));
  }
}

/** The browser's own words: a state and a code, or an error in the code's place. */
function backFrom(query: unknown): { readonly state: string; readonly code: string | null } {
  const { state, code, error } = query as Readonly<Record<string, unknown>>;
  if (typeof state !== 'string' || state === '' || state.length > 200) {
    throw new Refusal('invalid_request', 'The address is not whole: state is missing.');
  }
  const isCode = typeof code === 'string' && code !== '' && code.length <= maxCodeChars && error === undefined;
  return { state, code: isCode ? code : null };
}
