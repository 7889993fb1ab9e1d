import { createParser } from 'eventsource-parser';

/** Largest single event: an image in base64 fits. */
const maxEventBytes = 16 * 1024 * 1024;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** More lines than any event has; each costs something to read. */
const maxEventLines = 10_000;

/** A run of bytes that ends with a whole server-sent event. Its content is read on demand. */
export class EventBlock {
  readonly bytes: Buffer;
  #text: string | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** `bytes` as text. */
  get text(): string {
    return (this.#text ??= this.bytes.toString('utf8'));
  }

  /** The event's data; comments have none. */
  get data(): readonly string[] {
    const { text } = this;
    const plain = plainData(text);
    if (plain !== null) return [plain];
    const all: string[] = [];
    // Behind what a stream ended in the middle of there is no empty line, and behind an event one more says nothing.
    createParser({ onEvent: ({ data }) => all.push(data) }).feed(`${text}\n\n`);
    return all;
  }
}

/**
 * Cuts a byte stream at the ends of server-sent events, so that an event can be read, and left out, before its bytes go on.
 * A whole event is returned at once: bytes wait only for the rest of their own event. Each byte is looked at once, and those
 * that wait take no more memory than they are, in however small pieces they come.
 */
export class EventCutter {
  #held = Buffer.alloc(0);
  #heldBytes = 0;
  #lines = 0;
  /** Whether the current line is empty so far, apart from a carriage return. */
  #lineIsEmpty = true;

  push(chunk: Buffer): EventBlock[] {
    const blocks: EventBlock[] = [];
    let blockStart = 0;
    let lineStart = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, lineStart)) {
      const blank = this.#lineIsEmpty && isBlank(chunk, lineStart, end);
      this.#lineIsEmpty = true;
      this.#lines++;
      if (this.#lines > maxEventLines) throw new Error(`an event has more than ${maxEventLines} lines`);
      lineStart = end + 1;
      if (!blank) continue;
      blocks.push(this.#block(chunk.subarray(blockStart, lineStart)));
      blockStart = lineStart;
    }
    if (!isBlank(chunk, lineStart, chunk.length)) this.#lineIsEmpty = false;
    if (blockStart < chunk.length) this.#hold(chunk.subarray(blockStart));
    return blocks;
  }

  /** The unfinished event at the stream's end; null when it ended after an event. */
  rest(): EventBlock | null {
    return this.#heldBytes === 0 ? null : this.#block(Buffer.alloc(0));
  }

  #block(last: Buffer): EventBlock {
    this.#lines = 0;
    if (this.#heldBytes === 0) return new EventBlock(last);
    this.#hold(last);
    const bytes = this.#held.subarray(0, this.#heldBytes);
    this.#held = Buffer.alloc(0);
    this.#heldBytes = 0;
    return new EventBlock(bytes);
  }

  #hold(bytes: Buffer): void {
    const size = this.#heldBytes + bytes.length;
    if (size > maxEventBytes) throw new Error(`an event has more than ${maxEventBytes} bytes`);
    if (size > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(maxEventBytes, Math.max(size, 2 * this.#held.length, 1024)));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#heldBytes);
    this.#heldBytes = size;
  }
}

/** The data of an event written as nearly all are, which is had without a parser; null for any other. */
function plainData(text: string): string | null {
  const start = text.startsWith('event: ') ? text.indexOf(lineEnd) + 1 : 0;
  if (!text.startsWith('data: ', start) || !text.endsWith('\n\n')) return null;
  const end = text.length - 2;
  return text.indexOf(lineEnd, start) === end && !text.includes('\r') ? text.slice(start + 6, end) : null;
}

const lineEnd = '\n';

function isBlank(chunk: Buffer, start: number, end: number): boolean {
  return end === start || (end === start + 1 && chunk[start] === carriageReturn);
}
