import { isJsonObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';

/** Conversations that are read for what was missed. The least recently used is forgotten first. */
export const maxPlaces = 40;

/** How a platform marks where a message stands in the history of its conversation. */
export interface Marks {
  readonly isMark: (value: unknown) => value is string;
  readonly isConversation: (value: unknown) => value is string;
  readonly isLater: (mark: string, than: string) => boolean;
  /** The mark of a message that would be written now. */
  readonly now: () => string;
}

/** Up to where each recent conversation was taken: the cursor of a connection. */
export class Places {
  /** Whatever was written before was taken, also where nothing was taken yet. */
  since: string;
  private readonly marks: Marks;
  private readonly taken = new Map<string, string>();
  /** Conversations that could not be read, and from where they still have to be. */
  private readonly unread = new Map<string, string>();

  constructor(marks: Marks, cursor: Json | null) {
    this.marks = marks;
    const kept = isJsonObject(cursor) ? cursor : {};
    this.since = marks.isMark(kept['since']) ? kept['since'] : marks.now();
    for (const each of this.pairsOf(kept['places'])) this.taken.set(...each);
    for (const each of this.pairsOf(kept['unread'])) this.unread.set(...each);
  }

  /** The last message that was taken there. */
  took(id: string, mark: string): void {
    const before = this.taken.get(id);
    this.taken.delete(id);
    this.taken.set(id, before !== undefined && this.marks.isLater(before, mark) ? before : mark);
    const [oldest] = this.taken.keys();
    if (this.taken.size > maxPlaces) this.taken.delete(oldest!);
  }

  /** A message that is of no interest: its place moves, and none is kept that was not. */
  saw(id: string, mark: string): void {
    if (this.taken.has(id)) this.took(id, mark);
  }

  /** From where a conversation has to be read: the last message that was taken, or that was there before. */
  lastOf(id: string): string {
    return this.unread.get(id) ?? this.taken.get(id) ?? this.since;
  }

  /** It is read again from there, whatever is taken meanwhile. */
  couldNotRead(id: string, mark: string): void {
    if (!this.unread.has(id) && this.unread.size < maxPlaces) this.unread.set(id, mark);
  }

  wasRead(id: string): void {
    this.unread.delete(id);
  }

  get hasUnread(): boolean {
    return this.unread.size > 0;
  }

  forget(id: string): void {
    this.taken.delete(id);
    this.unread.delete(id);
  }

  /** From where to read, the most recent first. */
  all(): readonly (readonly [id: string, mark: string])[] {
    return [...new Map([...this.taken, ...this.unread])].toReversed();
  }

  cursor(): Json {
    return { since: this.since, places: [...this.taken], unread: [...this.unread] };
  }

  private *pairsOf(pairs: unknown): Generator<[string, string]> {
    if (!Array.isArray(pairs)) return;
    const { isConversation, isMark } = this.marks;
    for (const each of pairs.slice(-maxPlaces) as readonly unknown[]) {
      if (Array.isArray(each) && isConversation(each[0]) && isMark(each[1])) yield [each[0], each[1]];
    }
  }
}
