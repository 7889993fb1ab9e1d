/** The way in for browsers: a link's token becomes a cookie of this one host, and does not stay in the address. */
import { Refusal } from '@lodge/domain';
import type { Visiting } from './admission.ts';
import { visitCookie } from './cookies.ts';
import type { AddressRequest } from './address.ts';

/** Paths that never reach a guest. */
const ourPaths = '/_lodge';
const linkPath = `${ourPaths}/link`;

export const isOurPath = (url: string): boolean => /^\/_lodge(?:[/?]|$)/.test(url);

export const linkTo = (origin: string, token: string): string => `${origin}${linkPath}?token=${token}`;

export async function openLink(context: Visiting, call: AddressRequest): Promise<void> {
  const { visits, limiter, strangers, agentUrl } = context;
  const { request, response, agent, address, scope } = call;
  const [path, query] = request.url!.split('?', 2);
  if (path !== linkPath) throw new Refusal('route_not_found', 'Nothing is at this path.');
  if (request.method !== 'GET') throw new Refusal('method_not_allowed', 'A link is opened by GET.');
  // A prefetch must not use the link up.
  if (/prefetch/i.test(String(request.headers['sec-purpose'] ?? request.headers['purpose']))) throw notValid();
  const token = new URLSearchParams(query).get('token') ?? '';
  const opened = await strangers.run(token, { address }, async () => {
    const found = await visits.openLink({ agentId: agent.id, port: agent.port }, token);
    if (found !== null) return found;
    await limiter?.byStranger(address);
    throw notValid();
  });
  scope.fields.agent_id = agent.id;
  const seconds = Math.max(1, Math.floor((opened.visit.expiresAt.getTime() - Date.now()) / 1000));
  response.writeHead(303, {
    location: opened.visit.path,
    'set-cookie': visitCookie(opened.token, seconds, agentUrl),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-request-id': scope.fields.request_id,
    'content-length': 0,
  });
  response.end();
}

const notValid = (): Refusal =>
  new Refusal('link_not_valid', 'This link was used before, has expired, or is not for this address. Make another.');
