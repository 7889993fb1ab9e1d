import { createParser } from 'eventsource-parser';

/** Largest single event: an image in base64 fits. */
const maxEventBytes = 16 * 1024 * 1024;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** A run of bytes that ends with a whole server-sent event, and the event's data; comments have none. */
export interface EventBlock {
  readonly bytes: Buffer;
  /** `bytes` as text. */
  readonly text: string;
  readonly data: readonly string[];
}

/**
 * Cuts a byte stream at the ends of server-sent events, so that an event can be read, and left out, before its bytes go
 * on. What is whole is given at once: bytes wait only for the rest of their own event.
 */
export class EventCutter {
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The line that is under way has nothing in it yet but perhaps a carriage return. */
  #lineIsEmpty = true;
  #data: string[] = [];
  readonly #parser = createParser({ onEvent: ({ data }) => this.#data.push(data) });

  push(chunk: Buffer): EventBlock[] {
    const blocks: EventBlock[] = [];
    let blockStart = 0;
    let lineStart = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, lineStart)) {
      const blank = this.#lineIsEmpty && isBlank(chunk, lineStart, end);
      this.#lineIsEmpty = true;
      lineStart = end + 1;
      if (!blank) continue;
      blocks.push(this.#block(chunk.subarray(blockStart, lineStart)));
      blockStart = lineStart;
    }
    if (!isBlank(chunk, lineStart, chunk.length)) this.#lineIsEmpty = false;
    if (blockStart < chunk.length) this.#keepAwake(chunk.subarray(blockStart));
    return blocks;
  }

  /** What the stream ended in the middle of; null when it ended after an event. */
  rest(): EventBlock | null {
    return this.#heldBytes === 0 ? null : this.#block(Buffer.alloc(0), '\n\n');
  }

  #block(last: Buffer, ending = ''): EventBlock {
    const bytes = this.#held.length === 0 ? last : Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#heldBytes = 0;
    const text = bytes.toString('utf8');
    const plain = plainData(text);
    if (plain !== null) return { bytes, text, data: [plain] };
    this.#data = [];
    this.#parser.feed(text + ending);
    return { bytes, text, data: this.#data };
  }

  #keepAwake(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > maxEventBytes) throw new Error(`an event has more than ${maxEventBytes} bytes`);
    this.#held.push(bytes);
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
