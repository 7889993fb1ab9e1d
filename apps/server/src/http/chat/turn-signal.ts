import type { FastifyReply } from 'fastify';
import { onReplyOver } from '../client-gone.ts';
import { ApiError } from '../errors.ts';
import { tooSlow } from './gateway.ts';

/**
 * Aborts once the turn is over, however it ended: its reply was sent, the client went away, it took too long, or the server
 * cuts what is still under way when it closes. Then the turn in the guest is cancelled, if it has not ended.
 */
export function turnSignal(reply: FastifyReply, cut: AbortSignal, timeoutMs: number): AbortSignal {
  const turn = new AbortController();
  const timer = setTimeout(() => turn.abort(tooSlow(timeoutMs)), timeoutMs);
  const end = (why: string): void => turn.abort(new ApiError('agent_unavailable', why));
  const close = (): void => end('The service is restarting. Try again shortly.');
  cut.addEventListener('abort', close);
  if (cut.aborted) close();
  onReplyOver(reply, () => {
    clearTimeout(timer);
    cut.removeEventListener('abort', close);
    end('The client went away.');
  });
  return turn.signal;
}
