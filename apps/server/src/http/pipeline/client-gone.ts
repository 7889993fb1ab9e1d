import type { FastifyReply } from 'fastify';
import { Refusal } from '@lodge/domain';

/** Calls back, once, when the reply is over: sent whole, or its connection closed. Calls at once if it is over already. */
export function onReplyOver(reply: FastifyReply, over: () => void): void {
  if (reply.raw.destroyed) over();
  else reply.raw.once('close', over);
}

/** Aborts when the client closes the connection before it has the whole reply. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  onReplyOver(reply, () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

/**
 * Aborts once the reply is over: it was sent, the client went away, or the server cuts running requests when it closes.
 * Unfinished work in a guest is then cancelled.
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
