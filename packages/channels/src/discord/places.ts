import type { Json } from '@lodge/domain';

/** Channels that are read after a session was lost. The least recently used is forgotten first. */
export const maxPlaces = 40;

export interface DiscordSession {
  readonly id: string;
  readonly resumeUrl: string;
  readonly seq: number;
}

export const isSnowflake = (value: unknown): value is string =>
  typeof value === 'string' && /^[1-9]\d{0,19}$/.test(value);

/** Snowflakes rise with time. */
export const isLater = (id: string, than: string): boolean =>
  id.length === than.length ? id > than : id.length > than.length;

const epochMs = 1_420_070_400_000;
export const snowflakeAt = (ms: number): string => String(BigInt(Math.max(1, Math.floor(ms) - epochMs)) << 22n);

/** Up to where each recent channel was taken, and the session that can be resumed: the cursor of a connection. */
export class Places {
  /** Whatever was written before was taken, also where nothing was taken yet. */
  since: string;
  /** As far as its messages are committed. */
  session: DiscordSession | null;
  private readonly taken = new Map<string, string>();
  /** Channels that could not be read, and from where they still have to be. */
  private readonly unread = new Map<string, string>();

  constructor(cursor: Json | null) {
    const kept: Readonly<Record<string, unknown>> = typeof cursor === 'object' && cursor !== null ? { ...cursor } : {};
    this.since = isSnowflake(kept['since']) ? kept['since'] : snowflakeAt(Date.now());
    this.session = sessionOf(kept['session']);
    for (const each of pairsOf(kept['places'])) this.taken.set(...each);
    for (const each of pairsOf(kept['unread'])) this.unread.set(...each);
  }

  took(channelId: string, messageId: string): void {
    const before = this.taken.get(channelId);
    this.taken.delete(channelId);
    this.taken.set(channelId, before !== undefined && isLater(before, messageId) ? before : messageId);
    const [oldest] = this.taken.keys();
    if (this.taken.size > maxPlaces) this.taken.delete(oldest!);
  }

  /** A message that is of no interest: its place moves, and none is kept that was not. */
  saw(channelId: string, messageId: string): void {
    if (this.taken.has(channelId)) this.took(channelId, messageId);
  }

  /** From where a channel has to be read: the last message that was taken, or that was there before. */
  lastOf(channelId: string): string {
    return this.unread.get(channelId) ?? this.taken.get(channelId) ?? this.since;
  }

  /** It is read again from there, whatever is taken meanwhile. */
  couldNotRead(channelId: string, last: string): void {
    if (!this.unread.has(channelId) && this.unread.size < maxPlaces) this.unread.set(channelId, last);
  }

  wasRead(channelId: string): void {
    this.unread.delete(channelId);
  }

  get hasUnread(): boolean {
    return this.unread.size > 0;
  }

  forget(channelId: string): void {
    this.taken.delete(channelId);
    this.unread.delete(channelId);
  }

  /** The most recent first. */
  all(): readonly string[] {
    return [...new Set([...this.taken.keys(), ...this.unread.keys()])].toReversed();
  }

  cursor(): Json {
    const { session } = this;
    return {
      since: this.since,
      session: session && { id: session.id, resumeUrl: session.resumeUrl, seq: session.seq },
      places: [...this.taken].map(([channel, message]) => [channel, message]),
      unread: [...this.unread].map(([channel, message]) => [channel, message]),
    };
  }
}

function* pairsOf(pairs: unknown): Generator<[string, string]> {
  if (!Array.isArray(pairs)) return;
  for (const each of pairs.slice(-maxPlaces) as readonly unknown[]) {
    if (Array.isArray(each) && isSnowflake(each[0]) && isSnowflake(each[1])) yield [each[0], each[1]];
  }
}

function sessionOf(value: unknown): DiscordSession | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, resumeUrl, seq } = value as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || typeof resumeUrl !== 'string' || !Number.isSafeInteger(seq)) return null;
  return { id, resumeUrl, seq: seq as number };
}
