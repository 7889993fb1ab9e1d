import { maxPlaces } from '../shared/places.ts';
import type { Places } from '../shared/places.ts';
import { isLater, isSnowflake } from './places.ts';
import { discordMessageOf } from './reader.ts';
import type { DiscordMessage } from './reader.ts';
import type { DiscordRest } from './rest.ts';

const pageMessages = 100;
const maxPages = 10;

/** Channels that a login names, in which something was written that was not taken. */
export class Candidates {
  private readonly found = new Set<string>();

  /** Notes the places in the data of GUILD_CREATE. */
  note(data: unknown, places: Places): void {
    const { channels, threads } = (data ?? {}) as Readonly<Record<string, unknown>>;
    for (const list of [channels, threads]) {
      if (!Array.isArray(list)) continue;
      for (const each of list.slice(0, 2_000) as readonly unknown[]) {
        const { id, last_message_id: last } = (each ?? {}) as Readonly<Record<string, unknown>>;
        if (this.found.size >= maxPlaces || !isSnowflake(id) || !isSnowflake(last)) continue;
        if (isLater(last, places.lastOf(id))) this.found.add(id);
      }
    }
  }

  /** Those that have no place yet, and from where they are read. */
  take(places: Places): readonly (readonly [id: string, last: string])[] {
    const known = new Set(places.all().map(([id]) => id));
    const others = [...this.found].filter((id) => !known.has(id));
    this.found.clear();
    return others.map((id) => [id, places.since]);
  }
}

/** The messages of a channel after the last that was taken, oldest first. */
export async function messagesAfter(
  { rest, selfId }: { readonly rest: DiscordRest; readonly selfId: string },
  channelId: string,
  last: string,
  signal: AbortSignal,
): Promise<readonly DiscordMessage[]> {
  const found: DiscordMessage[] = [];
  let after = last;
  for (let page = 0; page < maxPages; page += 1) {
    const query = new URLSearchParams({ after, limit: String(pageMessages) });
    const answer = await rest.call('GET', `/channels/${channelId}/messages`, signal, { query });
    const messages: readonly unknown[] = Array.isArray(answer) ? answer.slice(0, pageMessages) : [];
    let newest = after;
    for (const each of messages) {
      const id = (each as { readonly id?: unknown } | null)?.id;
      if (isSnowflake(id) && isLater(id, newest)) newest = id;
      const message = discordMessageOf(each, selfId, 'history');
      if (message && message.channelId === channelId && isLater(message.id, last)) found.push(message);
    }
    if (messages.length < pageMessages || newest === after) break;
    after = newest;
  }
  return found.toSorted((one, other) => (isLater(one.id, other.id) ? 1 : -1));
}
