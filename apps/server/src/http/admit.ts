import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticate } from './auth.ts';
import type { HttpContext } from './context.ts';

/** The account area and the reference page: no key is taken there, and what is not there is said to anyone. */
export const isOfPages = (url: string): boolean => /^\/(account|docs)([/?]|$)/.test(url);

/**
 * The checks of who asks, and how often. A valid key counts on its own, whatever else comes from its address; what has none
 * counts by address, and is refused for that rather than for its key.
 */
export async function admitRequest(
  { verifier, limiter }: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  isPublic: boolean,
): Promise<void> {
  if (isPublic) {
    if (!isOfPages(request.url)) await limiter?.byAddress(request, reply);
    return;
  }
  try {
    await authenticate(verifier, request);
  } catch (error) {
    await limiter?.byAddress(request, reply);
    throw error;
  }
  await limiter?.byKey(request, reply);
}
