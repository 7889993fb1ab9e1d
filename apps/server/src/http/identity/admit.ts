import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Limits } from '../pipeline/limits/limits.ts';
import { authenticate, presentedSecret } from './principal.ts';
import type { Identities } from './principal.ts';
import type { Strangers } from './strangers.ts';

/** What admitting takes. */
export interface Admitting extends Identities {
  readonly limiter: Limits | null;
  readonly strangers: Strangers;
}

/** The account area's pages and the reference page: no key is taken there, and what is not there is said to anyone. */
export const isOfPages = (url: string): boolean => /^\/(account|docs)([/?]|$)/.test(url);

/**
 * The checks of who asks, and how often. A valid key or session counts on its own, whatever else comes from its address; what has
 * neither counts by address, and is refused for that rather than for its key. Strangers' keys are looked up in turn.
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
    if (isOfPages(request.url)) await limiter?.byPages(request, reply);
    else if (!config?.ownToken) await limiter?.byAddress(request, reply);
    if (config?.ownPagesOnly) admitting.sessions?.checkOwnPage(request);
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
  // What a page of another origin embeds is not handed to it.
  if (request.me) reply.header('cross-origin-resource-policy', 'same-origin');
  await limiter?.byPrincipal(request, reply);
}
