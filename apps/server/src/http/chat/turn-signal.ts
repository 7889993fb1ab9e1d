import type { FastifyReply } from 'fastify';
import { ApiError } from '../errors.ts';
import { tooSlow } from './gateway.ts';

/** Aborts when the client goes away, the turn takes too long, or the server closes: then the turn in the guest is cancelled. */
export function turnSignal(reply: FastifyReply, closing: AbortSignal, timeoutMs: number): AbortSignal {
  const turn = new AbortController();
  const timer = setTimeout(() => turn.abort(tooSlow(timeoutMs)), timeoutMs);
  const end = (why: string): void => turn.abort(new ApiError('agent_unavailable', why));
  const close = (): void => end('The service is restarting. Try again shortly.');
  closing.addEventListener('abort', close);
  if (closing.aborted) close();
  reply.raw.once('close', () => {
    clearTimeout(timer);
    closing.removeEventListener('abort', close);
    end('The client went away.');
  });
  return turn.signal;
}
