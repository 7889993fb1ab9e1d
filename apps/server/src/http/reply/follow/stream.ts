import { errorBody } from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '@lodge/ports';
import type { Endings } from '../../identity/ended.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import { reportError } from '../../pipeline/errors.ts';
import { sendEvents } from '../event-stream.ts';

/** Dependencies of streams that follow a list. */
export interface StreamNeeds {
  readonly endings: Endings;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
  /** A stream that was silent for this time gets a comment line; 10 s by default. */
  readonly logSilenceMs?: number;
  readonly log: Log;
}

/**
 * Answers with server-sent events: one for each entry, with the entry's `id` and its record as `data`, and comments during
 * silence. It ends with the client, with its key or session, and when the server closes.
 */
export async function streamEntries<Entry extends { readonly id: bigint }>(
  context: StreamNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
  list: {
    readonly follow: (signal: AbortSignal) => Promise<AsyncGenerator<readonly Entry[]>>;
    readonly record: (entry: Entry) => unknown;
  },
) {
  const { closing, logSilenceMs } = context;
  const signal = AbortSignal.any([clientGone(reply), closing, context.endings.of(request, reply)]);
  const batches = await list.follow(signal);
  const eventOf = (entry: Entry): string => `id: ${entry.id}\ndata: ${JSON.stringify(list.record(entry))}\n\n`;

  async function* blocks(): AsyncGenerator<string> {
    try {
      for await (const entries of batches) yield entries.map(eventOf).join('');
    } catch (error) {
      const { code, message } = reportError(context.log, error, request);
      yield `event: error\ndata: ${JSON.stringify(errorBody(code, message))}\n\n`;
    }
  }
  return sendEvents(reply, blocks(), { silenceMs: logSilenceMs, isLate: true });
}
