/** The page for a browser that comes back from a consent, whatever the outcome. */
import { Refusal } from '@lodge/domain';
import { consentTagOf } from '@lodge/engine';
import type { ConsentBack } from '@lodge/engine';
import type { Log } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { policy } from '../pages.ts';
import { clientGone } from '../pipeline/client-gone.ts';
import { reportError } from '../pipeline/errors.ts';
import { consentCookie } from './consent-cookie.ts';
import { smallPage } from './small-page.ts';

const maxCodeChars = 2_000;
const maxIssuerChars = 2_048;

interface Ended {
  readonly title: string;
  readonly text: string;
  /** Null: the page leads nowhere. */
  readonly returnUrl: string | null;
}

/** `origin` is the address at which browsers reach this service. */
export const consentPage = (
  { log, origin }: { readonly log: Log; readonly origin: string },
  request: FastifyRequest,
  reply: FastifyReply,
  finish: (back: ConsentBack, signal: AbortSignal) => Promise<Ended>,
): Promise<string | FastifyReply> =>
  asPage(log, request, reply, async () => {
    const { state, ...back } = backFrom(request.query);
    const cookie = consentCookie(consentTagOf(state), origin);
    const browser = cookie.of(request.headers.cookie);
    const { title, text, returnUrl } = await finish({ ...back, state, browser }, clientGone(reply));
    reply.header('set-cookie', cookie.cleared);
    return smallPage(title, text, returnUrl === null ? null : { url: returnUrl, text: 'Go on' });
  });

/** Answers with a page, also for a refusal. */
export async function asPage(
  log: Log,
  request: FastifyRequest,
  reply: FastifyReply,
  make: () => Promise<string | FastifyReply>,
): Promise<string | FastifyReply> {
  reply.type('text/html; charset=utf-8').headers({
    'content-security-policy': policy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  try {
    return await make();
  } catch (error) {
    const known = reportError(log, error, request);
    return reply
      .code(known.code === 'internal_error' ? 500 : 400)
      .send(smallPage('This did not work', `${known.message} Begin again where you came from.`));
  }
}

/** The browser's parameters: a state and a code, or an error in place of the code. */
function backFrom(query: unknown): Omit<ConsentBack, 'browser'> {
  const { state, code, error, iss } = query as Readonly<Record<string, unknown>>;
  if (typeof state !== 'string' || state === '' || state.length > 200) {
    throw new Refusal('invalid_request', 'The address is not whole: state is missing.');
  }
  if (iss !== undefined && (typeof iss !== 'string' || iss.length > maxIssuerChars)) {
    throw new Refusal('invalid_request', 'The address is not plain: iss is no issuer.');
  }
  const isCode = typeof code === 'string' && code !== '' && code.length <= maxCodeChars && error === undefined;
  return { state, code: isCode ? code : null, issuer: iss ?? null };
}
