import type { FastifyReply } from 'fastify';

/** Calls back, once, when the reply is over: sent whole, or its connection closed. At once when that is so already. */
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
