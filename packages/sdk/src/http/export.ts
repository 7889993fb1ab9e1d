import { chunksOf, streamOf } from './body.ts';
import type { Opened } from './transport.ts';

/**
 * An export that was opened. It is read once. One that is cut short is of no use: its reading ends with an error, and the
 * export is asked for anew. Call `cancel` to read none of it.
 */
export class AgentExport implements AsyncIterable<Uint8Array<ArrayBuffer>> {
  #opened: Opened | null;

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  /** The bytes, as they come. */
  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const opened = this.#opened;
    if (opened === null) throw new TypeError('The export was read already: ask for another one.');
    this.#opened = null;
    return chunksOf(opened.reply, opened.attempt);
  }

  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return streamOf(this[Symbol.asyncIterator]());
  }

  /** Closes the connection unread. */
  cancel(): void {
    this.#opened?.attempt.end(true);
    this.#opened = null;
  }
}
