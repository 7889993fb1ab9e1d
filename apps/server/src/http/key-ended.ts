import type { FastifyReply, FastifyRequest } from 'fastify';
import { presentedKey } from './auth.ts';
import { onReplyOver } from './client-gone.ts';
import type { HttpContext } from './context.ts';

/** A revoked key is refused everywhere within a second. */
const lookEveryMs = 500;

/** For what stays open as long as its client likes: aborts when the key that opened it was revoked or has expired. */
export function keyEnded(
  { verifier, log }: Pick<HttpContext, 'verifier' | 'log'>,
  request: FastifyRequest,
  reply: FastifyReply,
): AbortSignal {
  const ended = new AbortController();
  const key = presentedKey(request.headers)!;
  const look = async (): Promise<void> => {
    try {
      if (typeof (await verifier.verify(key)) === 'string') ended.abort();
    } catch (error) {
      log.info({ err: error, key_id: request.principal.keyId }, 'whether an API key still holds is asked again');
    }
  };
  const looking = setInterval(() => void look(), lookEveryMs);
  onReplyOver(reply, () => clearInterval(looking));
  return ended.signal;
}
