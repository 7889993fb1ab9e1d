/**
 * Where a request by cookie must come from. A browser sends the cookie with whatever a page of this site asks for, and the pages of
 * agents are of this site. So a change needs one of our own pages, by what the browser says of it, and the session's own token,
 * which no other page can read; a read and a WebSocket need one of our own pages.
 */
import { Refusal } from '@lodge/domain';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * A change, also of somebody who is not signed in yet. No page can set `Sec-Fetch-Site`, which browsers send over https and to
 * localhost; where it is not sent `Origin` counts, which they send with every change.
 */
export function checkChange(own: string, headers: IncomingHttpHeaders): void {
  const { 'sec-fetch-site': site, origin } = headers;
  const isOurs = site === undefined ? origin !== undefined && isOwn(own, origin, headers.host) : site === 'same-origin';
  if (!isOurs) throw foreign();
}

/** A read. Browsers send no `Origin` with most of their own pages' reads; `none` is an address that a person typed. */
export function checkRead(own: string, headers: IncomingHttpHeaders): void {
  const { 'sec-fetch-site': site, origin } = headers;
  const isOfOtherSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (isOfOtherSite || (origin !== undefined && !isOwn(own, origin, headers.host))) throw foreign();
}

/** A WebSocket can carry no token, so its `Origin`, which every browser sends, must be exactly ours, the scheme among it. */
export function checkSocket(own: string, { origin, host }: IncomingHttpHeaders): void {
  if (origin === own || origin === `${new URL(own).protocol}//${host?.toLowerCase()}`) return;
  throw foreign();
}

/** The page was loaded from the very host that the request goes to, by whatever name: an address, or one a tunnel gives. */
export function isHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}

export function checkToken(wanted: string, given: string | string[] | undefined): void {
  if (typeof given === 'string' && timingSafeEqual(digest(given), digest(wanted))) return;
  throw new Refusal('csrf_refused', 'The header X-CSRF-Token must carry the csrf_token of the session.');
}

const isOwn = (own: string, origin: string, host: string | undefined): boolean =>
  origin === own || isHost(origin, host);

const foreign = (): Refusal => new Refusal('csrf_refused', 'This request does not come from a page of this service.');

const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();
