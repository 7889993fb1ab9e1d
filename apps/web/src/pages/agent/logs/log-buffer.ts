/** The lines that the page holds: in order, each once, and bounded in number and in characters. */
import type { LogEntry } from '@lodge/sdk';

const maxLines = 150_000;
/** Two bytes each in memory. */
const maxCharacters = 48_000_000;
/** Share of the lines that goes when there are too many: dropping one by one would move all of them each time. */
const droppedShare = 0.1;

export class LogBuffer {
  #entries: LogEntry[] = [];
  #characters = 0;

  /** The lines, oldest first. It is another array whenever lines were added. */
  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  get first(): LogEntry | undefined {
    return this.#entries[0];
  }

  get last(): LogEntry | undefined {
    return this.#entries.at(-1);
  }

  get isFull(): boolean {
    return this.#entries.length >= maxLines || this.#characters >= maxCharacters;
  }

  /** Adds later lines, and drops the oldest when there are too many. Returns how many were dropped. */
  append(entries: readonly LogEntry[]): number {
    const last = this.last;
    const later = last === undefined ? entries : entries.filter(({ id }) => isLater(id, last.id));
    this.#count(later);
    this.#entries = [...this.#entries, ...later];
    let dropped = 0;
    while (this.#entries.length > maxLines || (this.#characters > maxCharacters && this.#entries.length > 1)) {
      const share = Math.max(1, Math.floor(this.#entries.length * droppedShare));
      for (const { message } of this.#entries.slice(0, share)) this.#characters -= message.length;
      this.#entries = this.#entries.slice(share);
      dropped += share;
    }
    return dropped;
  }

  /** Adds earlier lines, given oldest first. Returns how many of them were new. */
  prepend(entries: readonly LogEntry[]): number {
    const first = this.first;
    const earlier = first === undefined ? entries : entries.filter(({ id }) => isLater(first.id, id));
    this.#count(earlier);
    this.#entries = [...earlier, ...this.#entries];
    return earlier.length;
  }

  #count(entries: readonly LogEntry[]): void {
    for (const { message } of entries) this.#characters += message.length;
  }
}

/** Ids are numbers that rise, as texts. */
export const isLater = (id: string, other: string): boolean =>
  id.length === other.length ? id > other : id.length > other.length;
