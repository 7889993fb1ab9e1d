/**
 * Server-sent events as a guest writes them. Every character is looked at a bounded number of times, however the guest cuts its
 * stream into pieces, and an event has a bound.
 */
import { setImmediate } from 'node:timers/promises';
import { textBounds } from '@lodge/domain';

/** An event that is longer is none of OpenAI's. */
const maxBlockChars = textBounds.turnEvent.bytes;
/** OpenAI's events have two or three. */
const maxLines = 1_000;
/** So many events are read before whatever else waits for this thread comes in between: a guest may send them in one piece. */
const blocksAtOnce = 64;
/** All of a blank line but its last character: it may be cut anywhere. */
const maxCutChars = '\r\n\r'.length;

/** The blocks of an event stream, each whole and without the blank line that ends it. */
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

/** The block under way, in pieces: joined once it is whole, so that many small pieces cost no more than few large ones. */
class PendingBlock {
  private pieces: string[] = [];
  private length = 0;
  /** The end of what came so far: the beginning of a blank line may be in it. */
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
  /** Null where the block has no data. */
  readonly data: string | null;
  /** The lines that are no data. */
  readonly otherLines: readonly string[];
}

/** Throws where the block has more lines than any event of OpenAI's. */
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
