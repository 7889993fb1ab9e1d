import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Characters that are written in one go; control characters take 25 ns each. */
export const maxCharsAtOnce = 64 * 1024;

/**
 * Replies with an object in JSON whose last members are long texts. They are written piece by piece, so that other work of
 * this thread runs in between.
 */
export const sendLongTexts = (
  reply: FastifyReply,
  record: object,
  texts: Readonly<Record<string, string>>,
): FastifyReply => reply.type('application/json; charset=utf-8').send(Readable.from(pieces(record, texts)));

async function* pieces(record: object, texts: Readonly<Record<string, string>>): AsyncGenerator<string> {
  yield JSON.stringify(record).slice(0, -1);
  for (const [name, text] of Object.entries(texts)) {
    yield `,${JSON.stringify(name)}:"`;
    for (let start = 0; start < text.length;) {
      const end = wholeCharacters(text, start + maxCharsAtOnce);
      yield JSON.stringify(text.slice(start, end)).slice(1, -1);
      start = end;
      await setImmediate();
    }
    yield '"';
  }
  yield '}';
}

/** Returns `end`, or one less if that is in the middle of a character. */
function wholeCharacters(text: string, end: number): number {
  const code = end < text.length ? text.charCodeAt(end - 1) : 0;
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}
