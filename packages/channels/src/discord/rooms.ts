import { idOf, plainName } from '../shared/plain.ts';
import { isSnowflake } from './places.ts';
import { DiscordError } from './rest.ts';
import type { DiscordRest } from './rest.ts';

/** The needed facts of a channel. */
export interface Room {
  readonly isDirect: boolean;
  /** A thread's parent channel. */
  readonly parentId: string | null;
  readonly title: string | null;
}

const maxKept = 200;
const keptMs = 60 * 60_000;
const threadTypes = new Set([10, 11, 12]);

/** Channels by their id, asked for once an hour. */
export class Rooms {
  private readonly rest: DiscordRest;
  private readonly kept = new Map<string, { readonly room: Room; readonly until: number }>();

  constructor(rest: DiscordRest) {
    this.rest = rest;
  }

  /** Null: the bot cannot see it. Rejects with a passing `DiscordError`. */
  async of(channelId: string, signal: AbortSignal): Promise<Room | null> {
    const known = this.kept.get(channelId);
    if (known && known.until > Date.now()) return known.room;
    try {
      const room = roomOf(await this.rest.call('GET', `/channels/${channelId}`, signal));
      this.kept.delete(channelId);
      this.kept.set(channelId, { room, until: Date.now() + keptMs });
      const [oldest] = this.kept.keys();
      if (this.kept.size > maxKept) this.kept.delete(oldest!);
      return room;
    } catch (error) {
      if (error instanceof DiscordError && error.kind === 'refused' && error.status !== 401) return null;
      throw error;
    }
  }
}

export function roomOf(channel: unknown): Room & { readonly isThread: boolean } {
  const { type, name, parent_id: parent } = (channel ?? {}) as Readonly<Record<string, unknown>>;
  const isThread = typeof type === 'number' && threadTypes.has(type);
  return {
    isDirect: type === 1,
    isThread,
    parentId: isThread && isSnowflake(idOf(parent)) ? idOf(parent) : null,
    title: plainName(name) || null,
  };
}
