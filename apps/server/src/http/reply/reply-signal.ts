import { Refusal } from '@lodge/domain';
import type { FastifyReply } from 'fastify';
import { onReplyOver } from '../pipeline/client-gone.ts';

/**
 * Aborts once the reply is over, however it ended: it was sent, the client went away, or the server cuts what is still under way
 * when it closes. What the reply waits for in a guest is cancelled then, if it has not ended.
 */
export function replySignal(reply: FastifyReply, cut: AbortSignal): AbortSignal {
  const over = new AbortController();
  const end = (why: string): void => over.abort(new Refusal('agent_unavailable', why));
  const close = (): void => end('The service is restarting. Try again shortly.');
  cut.addEventListener('abort', close);
  if (cut.aborted) close();
  onReplyOver(reply, () => {
    cut.removeEventListener('abort', close);
    end('The client went away.');
  });
  return over.signal;
}
