import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

export const eventStreamType = 'text/event-stream; charset=utf-8';
/** The contract promises a comment at least every 15 s. */
export const defaultSilenceMs = 10_000;

export interface SendOptions {
  /** A stream that was silent for this time gets a comment. */
  readonly silenceMs?: number | undefined;
  /** The stream was silent before its first block, so a comment comes at once. */
  readonly isLate?: boolean;
}

/** Replies with server-sent events: `blocks` are whole ones, each with its blank line. */
export function sendEvents(
  reply: FastifyReply,
  blocks: AsyncIterable<string>,
  { silenceMs = defaultSilenceMs, isLate = false }: SendOptions,
): FastifyReply {
  return reply
    .type(eventStreamType)
    .headers({ 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' })
    .send(Readable.from(withComments(blocks, silenceMs, isLate)));
}

/** Comment that keeps a silent stream alive: clients skip it. */
const comment = ': working\n\n';
const silent = Symbol('silent');

/**
 * Yields the same texts, with a comment after each silence of `silenceMs`, and one at once when it was silent before
 * (`isLate`). Each text is a whole block, so a comment never cuts one.
 */
async function* withComments(texts: AsyncIterable<string>, silenceMs: number, isLate: boolean): AsyncGenerator<string> {
  const iterator = texts[Symbol.asyncIterator]();
  try {
    if (isLate) yield comment;
    let next = iterator.next();
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<typeof silent>((resolve) => {
        timer = setTimeout(resolve, silenceMs, silent);
      });
      const first = await Promise.race([next, silence]).finally(() => clearTimeout(timer));
      if (first === silent) yield comment;
      else if (first.done) return;
      else {
        yield first.value;
        next = iterator.next();
      }
    }
  } finally {
    await iterator.return?.();
  }
}
