/**
 * Reads server-sent events of a guest. Every character is read a bounded number of times, however the guest cuts its stream,
 * and an event has a bound.
 */
import { setImmediate } from 'node:timers/promises';
import { textBounds } from '@lodge/domain';

/** Longest event. OpenAI has none that is longer. */
const maxBlockChars = textBounds.turnEvent.bytes;
/** Most lines of an event. OpenAI's events have two or three. */
const maxLines = 1_000;
/** Events that are read before other work of this thread gets a chance, because a guest may send many in one piece. */
const blocksAtOnce = 64;
/** The longest beginning of a blank line without its last character, which a cut may split off. */
const maxCutChars = '\r\n\r'.length;

/** Yields the blocks of an event stream, each whole and without the blank line that ends it. */
export async function* eventBlocks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const pending = new PendingBlock();
  let read = 0;
  for await (const chunk of bytes) {
    const text = pending.takeCut() + decoder.decode(chunk, { stream: true });
    let start = 0;
    for (const { index, 0: blankLine } of text.matchAll(/\r?\n\r?\n/g)) {
      const block = pending.finish(text.slice(start, index));
      if (block !== '') {
        yield block;
        read += 1;
        if (read % blocksAtOnce === 0) await setImmediate();
      }
      start = index + blankLine.length;
    }
    pending.add(text.slice(start));
  }
}

/**
 * The incomplete block, in pieces. They are joined once it is whole, so many small pieces cost no more than few large ones.
 */
class PendingBlock {
  private pieces: string[] = [];
  private length = 0;
  /** The end of the text so far, which may contain the beginning of a blank line. */
  private cut = '';

  takeCut(): string {
    const { cut } = this;
    this.cut = '';
    return cut;
  }

  add(text: string): void {
    const end = Math.max(0, text.length - maxCutChars);
    if (end > 0) this.pieces.push(text.slice(0, end));
    this.length += end;
    this.cut = text.slice(end);
    if (this.length + this.cut.length > maxBlockChars) throw new Error('an event without end');
  }

  finish(last: string): string {
    const block = this.pieces.length === 0 ? last : this.pieces.join('') + last;
    this.pieces = [];
    this.length = 0;
    return block;
  }
}

export interface EventLines {
  /** The data of the block; null when it has none. */
  readonly data: string | null;
  /** The lines without data. */
  readonly otherLines: readonly string[];
}

/** Reads the lines of a block. Throws when it has more lines than any event of OpenAI's. */
export function readBlock(block: string): EventLines {
  const data: string[] = [];
  const otherLines: string[] = [];
  const lines = block.split(/\r?\n/, maxLines + 1);
  if (lines.length > maxLines) throw new Error('an event of too many lines');
  for (const line of lines) {
    const value = dataOf(line);
    if (value === null) otherLines.push(line);
    else data.push(value);
  }
  return { data: data.length === 0 ? null : data.join('\n'), otherLines };
}

function dataOf(line: string): string | null {
  if (line === 'data') return '';
  if (!line.startsWith('data:')) return null;
  return line.slice(line.startsWith('data: ') ? 'data: '.length : 'data:'.length);
}
