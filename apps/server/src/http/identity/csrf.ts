/**
 * Where a request by cookie must come from. A browser sends the cookie with every request of a page of this site, and the
 * pages of agents are of this site. So a change needs one of Lodge's own pages, according to the browser's headers, and the
 * session's own token, which no other page can read. A read and a WebSocket need one of Lodge's own pages.
 */
import { Refusal } from '@lodge/domain';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Checks a change, also of somebody who is not signed in yet. No page can set `Sec-Fetch-Site`, which browsers send over
 * https and to localhost. Without it `Origin` counts, which they send with every change.
 */
export function checkChange(own: string, headers: IncomingHttpHeaders): void {
  const { 'sec-fetch-site': site, origin } = headers;
  const isOurs = site === undefined ? origin !== undefined && isOwn(own, origin, headers.host) : site === 'same-origin';
  if (!isOurs) throw foreign();
}

/** Checks a read. Browsers send no `Origin` with most reads of their own pages; `none` is an address that a person typed. */
export function checkRead(own: string, headers: IncomingHttpHeaders): void {
  const { 'sec-fetch-site': site, origin } = headers;
  const isOfOtherSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (isOfOtherSite || (origin !== undefined && !isOwn(own, origin, headers.host))) throw foreign();
}

/**
 * Checks a WebSocket. It can carry no token, so its `Origin`, which every browser sends, must be exactly Lodge's, including
 * the scheme.
 */
export function checkSocket(own: string, { origin, host }: IncomingHttpHeaders): void {
  if (origin === own || origin === `${new URL(own).protocol}//${host?.toLowerCase()}`) return;
  throw foreign();
}

/** Whether the page was loaded from the very host that the request goes to, by any name: an address, or a tunnel's name. */
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
