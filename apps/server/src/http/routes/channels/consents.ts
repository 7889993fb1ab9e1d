/** `/oauth/consent/:token`: the page that a consent begins with. Anybody may open it without an account here. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '@lodge/domain';
import type { Accounts, ConsentPage } from '@lodge/engine';
import type { Log } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app-types.ts';
import type { Reached } from '../../context.ts';
import { checkChange } from '../../identity/csrf.ts';
import type { Sessions } from '../../identity/session.ts';
import { policy } from '../../pages.ts';
import { consentCookie } from '../../reply/consent-cookie.ts';
import { consentForm } from '../../reply/consent-form.ts';
import { asPage } from '../../reply/consent-page.ts';
import { smallPage } from '../../reply/small-page.ts';
import type { ChannelNeeds } from './shared.ts';

interface Needs extends ChannelNeeds, Reached {
  readonly log: Log;
  readonly accounts: Pick<Accounts, 'account' | 'signedIn'>;
  readonly sessions: Sessions;
}

const url = '/oauth/consent/:token';
const maxFormBytes = 1024;
const route = { schema: { hide: true }, config: { public: true } } as const;

/** The address that an owner passes on. */
export const consentUrl = (origin: string, pageToken: string): string => `${origin}/oauth/consent/${pageToken}`;

export function consentRoutes(app: App, needs: Needs): void {
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    const form = { parseAs: 'string', bodyLimit: maxFormBytes } as const;
    scope.addContentTypeParser<string>('application/x-www-form-urlencoded', form, (_request, text, parsed) =>
      parsed(null, Object.fromEntries(new URLSearchParams(text))),
    );
    scope.get(url, route, (request, reply) => asPage(needs.log, request, reply, () => show(needs, request, reply)));
    scope.post(url, route, (request, reply) => asPage(needs.log, request, reply, () => answer(needs, request, reply)));
    done();
  });
}

const tokenOf = ({ params }: FastifyRequest): string => (params as { readonly token: string }).token;

function look({ channels, origin }: Needs, request: FastifyRequest): Promise<ConsentPage> {
  const { cookie } = request.headers;
  return channels.consents.look(tokenOf(request), (tag) => consentCookie(tag, origin()).of(cookie));
}

async function show(needs: Needs, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const page = await look(needs, request);
  const session = needs.sessions.token(request.headers);
  const me = session === null ? null : await needs.accounts.signedIn(session);
  const owner = await needs.accounts.account(page.accountId);
  const origin = needs.origin();
  reply.headers({
    'set-cookie': consentCookie(page.tag, origin).with(page.browser),
    'content-security-policy': policyFor(page.leadsTo),
    // With `no-referrer` the browser would send the form with `Origin: null`, which does not show that it is Lodge's.
    'referrer-policy': 'same-origin',
  });
  return consentForm({ page, owner, me: me?.account ?? null, host: new URL(origin).host, csrf: csrfOf(page.browser) });
}

/**
 * Browsers apply a page's policy to its form's redirects, and authorization servers redirect further, to their other
 * servers.
 */
const policyFor = (leadsTo: string): string =>
  policy.replace("form-action 'self'", `form-action 'self' https:${leadsTo.startsWith('https:') ? '' : ` ${leadsTo}`}`);

async function answer(needs: Needs, request: FastifyRequest, reply: FastifyReply): Promise<string | FastifyReply> {
  checkChange(needs.origin(), request.headers);
  const page = await look(needs, request);
  const { answer: said, csrf } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
  const cookie = consentCookie(page.tag, needs.origin());
  // A browser without its cookie gets a new secret, which fits no form.
  if (typeof csrf !== 'string' || !isSame(csrf, csrfOf(page.browser))) {
    throw new Refusal('csrf_refused', 'This browser did not open the page, or takes no cookies.');
  }
  const { consents } = needs.channels;
  if (said !== 'agree') {
    await consents.refuse(tokenOf(request), page.browser);
    reply.header('set-cookie', cookie.cleared);
    return smallPage('Refused', 'The agent was given nothing. You can close this page.');
  }
  const to = await consents.agree(tokenOf(request), page.browser);
  reply.headers({ 'set-cookie': cookie.with(page.browser), 'content-security-policy': policyFor(page.leadsTo) });
  return reply.redirect(to, 303);
}

const csrfOf = (browser: string): string => createHash('sha256').update(`consent form ${browser}`).digest('base64url');
const isSame = (given: string, wanted: string): boolean => timingSafeEqual(digest(given), digest(wanted));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
