import { isJsonObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';

/** Conversations that are compared with Slack's history. The least recently used is forgotten first. */
export const maxPlaces = 40;

/** A channel, or a thread of it where `threadTs` is given. */
export interface Place {
  readonly channel: string;
  readonly threadTs: string | null;
}

/** As ids of conversations: `<channel>` or `<channel>/<ts of the thread>`. */
export const placeId = ({ channel, threadTs }: Place): string =>
  threadTs === null ? channel : `${channel}/${threadTs}`;

export function placeOf(id: string): Place {
  const [channel = '', threadTs] = id.split('/', 2);
  return { channel, threadTs: threadTs ?? null };
}

/** Up to where each recent conversation was taken: the cursor of a connection. */
export class Places {
  /** Whatever was written before was taken, also where nothing was taken yet. */
  since: string;
  private readonly taken = new Map<string, string>();
  /** Conversations that could not be read, and from where they still have to be. */
  private readonly unread = new Map<string, string>();

  constructor(cursor: Json | null) {
    const kept = isJsonObject(cursor) ? cursor : {};
    this.since = isTs(kept['since']) ? kept['since'] : tsOf(Date.now());
    for (const each of entriesOf(kept['places'])) this.taken.set(...each);
    for (const each of entriesOf(kept['unread'])) this.unread.set(...each);
  }

  /** The last message that was taken there. */
  took(place: Place, ts: string): void {
    const id = placeId(place);
    const before = this.taken.get(id);
    this.taken.delete(id);
    this.taken.set(id, before !== undefined && isLater(before, ts) ? before : ts);
    const [oldest] = this.taken.keys();
    if (this.taken.size > maxPlaces) this.taken.delete(oldest!);
  }

  /** A message that is of no interest: its place moves, and none is kept that was not. */
  saw(place: Place, ts: string): void {
    if (this.taken.has(placeId(place))) this.took(place, ts);
  }

  /** It is read again from there, whatever is taken meanwhile. */
  couldNotRead(id: string, ts: string): void {
    if (!this.unread.has(id) && this.unread.size < maxPlaces) this.unread.set(id, ts);
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
  all(): readonly (readonly [string, string])[] {
    return [...new Map([...this.taken, ...this.unread])].toReversed();
  }

  cursor(): Json {
    const { since, taken, unread } = this;
    return { since, places: [...taken].map(([id, ts]) => [id, ts]), unread: [...unread].map(([id, ts]) => [id, ts]) };
  }
}

export const isTs = (value: unknown): value is string => typeof value === 'string' && /^\d{1,12}\.\d{1,9}$/.test(value);

/** Whether one time of Slack is after another. Both are seconds with six digits, so they fit a number. */
export const isLater = (ts: string, than: string): boolean => Number(ts) > Number(than);

export const tsOf = (ms: number): string => (ms / 1000).toFixed(6);

function* entriesOf(places: unknown): Generator<[string, string]> {
  if (!Array.isArray(places)) return;
  for (const each of places.slice(-maxPlaces)) {
    if (Array.isArray(each) && typeof each[0] === 'string' && isTs(each[1])) yield [each[0], each[1]];
  }
}
