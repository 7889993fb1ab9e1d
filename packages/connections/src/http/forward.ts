/** Forwards one request of a guest to a connection's server, and its answer back, bounded in bytes and time. */
import { PrivateAddressError } from '@lodge/egress';
import type { OutboundRequest, OutboundResponse } from '@lodge/egress';
import type { ConnectionRow } from '@lodge/ports';
import type { Access } from '../oauth/access.ts';
import type { Credentials } from '../secret/credentials.ts';
import { Deadline } from './deadline.ts';
import { requestHeaders } from './headers.ts';
import { pass } from './pass.ts';
import type { Passed } from './pass.ts';
import { Refused } from './refused.ts';
import { addressOf, isRedirect, redirectTarget } from './target.ts';
import type { Forwarding, Way } from './way.ts';

/** Forwards a request. Rejects with a `Refused` while nothing was answered. */
export async function forward(way: Way, forwarding: Forwarding): Promise<Passed> {
  const { bounds } = way;
  const deadline = new Deadline(bounds.totalMs, forwarding.signal);
  try {
    deadline.within(bounds.headMs);
    const { access, credentials: first } = forwarding;
    const send = (credentials: Credentials) => answerOf(way, { ...forwarding, credentials }, deadline.signal);
    const [credentials, answer] = await authorized(access, first, send);
    return await pass(way, { ...forwarding, credentials }, answer, deadline);
  } finally {
    deadline.end();
  }
}

/**
 * Sends a request, and once more where other access comes of the server's refusal. A request that cannot be repeated gets the
 * refusal, and its program's next try has the other access.
 */
export async function authorized(
  access: Access,
  first: Credentials,
  send: (credentials: Credentials) => Promise<OutboundResponse>,
  isRepeatable = true,
): Promise<readonly [Credentials, OutboundResponse]> {
  const answer = await send(first);
  if (answer.statusCode !== 401) return [first, answer];
  answer.body.on('error', () => undefined);
  let isRefusalPassed = false;
  try {
    const others = await access.others(first);
    isRefusalPassed = others === null || !isRepeatable;
    return others === null || !isRepeatable ? [first, answer] : [others, await send(others)];
  } finally {
    if (!isRefusalPassed) answer.body.destroy();
  }
}

async function answerOf(
  way: Way,
  { row, target, credentials, body, isFree, ...given }: Forwarding,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { method } = given;
  const headers = requestHeaders(given.headers, credentials.headers);
  let to = target;
  for (let followed = 0; ; followed += 1) {
    const url = addressOf(row, to.path, to.query);
    const answer = await sent(way, row, { method, url, headers, ...(body && { body }), signal });
    if (!isRedirect(answer.statusCode)) return answer;
    answer.body.on('error', () => undefined).destroy();
    const location = [answer.headers.location ?? ''].flat()[0]!;
    const next = redirectTarget(row, method, url, location);
    const mayFollow = method === 'GET' || method === 'HEAD';
    if (next === null || !isFree(next.path) || !mayFollow || followed >= way.bounds.redirects)
      throw redirected(next !== null && mayFollow);
    to = next;
  }
}

const redirected = (tooOften: boolean): Refused =>
  new Refused(
    502,
    'redirect_refused',
    tooOften
      ? 'The server redirects too often.'
      : 'The server redirects to where this connection may not go, or what is no GET. It is not followed.',
  );

/** Sends one request. Rejects with a `Refused`. */
export async function sent(
  { outbound, privateAddresses }: Way,
  { accountId: holder }: ConnectionRow,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  try {
    if (!privateAddresses && !request.url.startsWith('https:')) throw new PrivateAddressError();
    return await outbound.send({ privateAddresses, holder }, request);
  } catch (error) {
    if (error instanceof PrivateAddressError) {
      throw new Refused(502, 'address_refused', 'The connection leads to an address that is not public.');
    }
    if (request.signal.aborted) throw new Refused(504, 'upstream_timeout', 'The server did not answer in time.');
    throw new Refused(502, 'upstream_unreachable', 'The server could not be reached, or broke off.');
  }
}
