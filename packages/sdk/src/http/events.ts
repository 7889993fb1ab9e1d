/** Reads server-sent events: in linear time, however they are cut into chunks, with a bound on each. */
import { ConnectionError } from '../errors.ts';
import type { Attempt } from './attempt.ts';
import { chunksOf } from './body.ts';

export interface ServerEvent {
  /** `message` where the server names none. */
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** The API's own events are far smaller. */
const maxEventChars = 32 * 1024 * 1024;

/** The events of a reply until it ends. An event that is cut off is not given. */
export async function* eventsOf(reply: Response, attempt: Attempt): AsyncGenerator<ServerEvent, void> {
  const reader = new EventReader();
  const decoder = new TextDecoder();
  for await (const chunk of chunksOf(reply, attempt)) yield* reader.read(decoder.decode(chunk, { stream: true }));
}

export class EventReader {
  /** The line that has begun, in the pieces that came. */
  #pieces: string[] = [];
  #chars = 0;
  #isAfterReturn = false;
  #event = '';
  #id: string | undefined;
  #data: string[] = [];

  /** The events that this text completes. */
  read(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    let from = 0;
    for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) {
      // A line break may be cut in two.
      const isHalf = this.#isAfterReturn && index === 0 && end === '\n';
      this.#isAfterReturn = false;
      if (!isHalf) {
        this.#keep(text.slice(from, index));
        const event = this.#line(this.#pieces.join(''));
        this.#pieces = [];
        if (event !== null) events.push(event);
      }
      from = index + end.length;
    }
    if (text !== '') this.#isAfterReturn = text.endsWith('\r');
    this.#keep(text.slice(from));
    return events;
  }

  #keep(piece: string): void {
    this.#chars += piece.length;
    if (this.#chars > maxEventChars) throw new ConnectionError('The server sent an event that is too large.');
    if (piece !== '') this.#pieces.push(piece);
  }

  #line(line: string): ServerEvent | null {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    else {
      this.#chars -= line.length;
      if (name === 'event') this.#event = value;
      if (name === 'id' && !value.includes('\0')) this.#id = value;
    }
    return null;
  }

  #dispatch(): ServerEvent | null {
    const event = { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    this.#chars = 0;
    return isEmpty ? null : event;
  }
}
