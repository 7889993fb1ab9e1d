import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../pipeline/limits/limits.ts';
import { authenticate, presentedSecret } from './principal.ts';
import type { Identities } from './principal.ts';
import type { Strangers } from './strangers.ts';

/** Dependencies of admission. */
export interface Admitting extends Identities {
  readonly limiter: Limits | null;
  readonly strangers: Strangers;
}

/** The account's pages and the documents: they accept no key, and anyone may learn that a page does not exist. */
export const isOfPages = (url: string): boolean => /^\/(account|docs|llms(?:-full)?\.txt)([/?]|$)/.test(url);

/** Where a browser gets the dashboard, and a program what it is told anywhere that is no path of the API. */
export const isOfDashboard = (url: string): boolean => /^\/(?:(?:agents|host)(?:[/?]|$)|\?|$)/.test(url);

/**
 * Checks the caller, and its rate. A valid key or session has its own count, whatever else comes from its address. A request
 * with neither counts by address, and is refused for that rather than for its key. Strangers' keys are looked up in turn.
 */
export async function admitRequest(
  admitting: Admitting,
  request: FastifyRequest,
  reply: FastifyReply,
  isPublic: boolean,
): Promise<void> {
  const { limiter, strangers } = admitting;
  if (isPublic) {
    const { config } = request.routeOptions;
    if (isOfPages(request.url) || isOfDashboard(request.url)) await limiter?.byPages(request, reply);
    else if (!config?.ownToken) await limiter?.byAddress(request, reply);
    if (config?.ownPagesOnly) admitting.sessions.checkOwnPage(request);
    return;
  }
  const lookUp = async (): Promise<void> => {
    try {
      await authenticate(admitting, request);
    } catch (error) {
      await limiter?.byAddress(request, reply);
      throw error;
    }
  };
  const secret = presentedSecret(admitting, request);
  if (secret === null) await lookUp();
  else await strangers.run(secret, { address: request.ip, reply }, lookUp);
  // A reply must not be available to an embedding page of another origin.
  if (request.me) reply.header('cross-origin-resource-policy', 'same-origin');
  if (!request.routeOptions.config?.passesOn) await limiter?.byPrincipal(request, reply);
}
