/**
 * Who may call the account area. A request that changes something must come from a page of ours, by what the browser says of
 * it, and, of somebody signed in, carry the session's own token, which no other page can read.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { AccountRefusal } from '@lodge/engine/ports';
import type { FastifyRequest } from 'fastify';
import type { AreaContext } from './area.ts';
import { readSession } from './cookie.ts';

export function guard(context: AreaContext): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const changes = request.method !== 'GET' && request.method !== 'HEAD';
    if (changes) checkOrigin(context.origin(), request);
    if (request.routeOptions.config.anyone) return;
    const token = readSession(context, request);
    const me = token === null ? null : await context.accounts.signedIn(token);
    if (me === null) throw new AccountRefusal('not_signed_in', 'Sign in first.');
    if (changes) checkToken(context.accounts.csrfToken(token!), request.headers['x-csrf-token']);
    request.me = me;
  };
}

/**
 * What no page can set: `Sec-Fetch-Site`, which browsers send over https and to localhost, and where it is not sent `Origin`,
 * which they send with every change.
 */
function checkOrigin(own: string, { headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  const isOurs =
    site === undefined
      ? origin !== undefined && (origin === own || isHost(origin, headers.host))
      : site === 'same-origin';
  if (!isOurs) throw new AccountRefusal('csrf_refused', 'This request does not come from a page of this service.');
}

/** The page was loaded from the very host that the request goes to, by whatever name: an address, or one a tunnel gives. */
export function isHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

function checkToken(wanted: string, given: string | string[] | undefined): void {
  if (typeof given === 'string' && timingSafeEqual(digest(given), digest(wanted))) return;
  throw new AccountRefusal('csrf_refused', 'The header X-CSRF-Token must carry the csrf_token of the session.');
}

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();
