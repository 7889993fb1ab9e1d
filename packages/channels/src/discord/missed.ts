import { pause } from '../shared/backoff.ts';
import { isLater, isSnowflake, maxPlaces } from './places.ts';
import type { Places } from './places.ts';
import { discordMessageOf } from './reader.ts';
import type { DiscordMessage } from './reader.ts';
import { DiscordError } from './rest.ts';
import type { DiscordRest } from './rest.ts';

const pageMessages = 100;
const maxPages = 10;
const maxTries = 4;

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

  take(): readonly string[] {
    const all = [...this.found];
    this.found.clear();
    return all;
  }
}

/** Channels of a glance: the most recent ones, in which somebody most likely writes next. */
const glancedPlaces = 3;

/** As `missedMessages`, of few channels that were taken before. */
export async function* glancedMessages(
  access: { readonly rest: DiscordRest; readonly selfId: string; readonly retryMs: number },
  places: Places,
  signal: AbortSignal,
): AsyncGenerator<readonly DiscordMessage[]> {
  for (const channelId of places.all().slice(0, glancedPlaces)) {
    const found = await messagesAfter(access, channelId, places.lastOf(channelId), signal);
    if (signal.aborted) return;
    if (Array.isArray(found) && found.length > 0) yield found;
  }
}

/**
 * Messages in recent channels after the last received place, oldest first, one channel after the other. A channel that
 * cannot be read any more is forgotten.
 */
export async function* missedMessages(
  access: { readonly rest: DiscordRest; readonly selfId: string; readonly retryMs: number },
  places: Places,
  candidates: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<readonly DiscordMessage[]> {
  for (const channelId of new Set([...places.all(), ...candidates])) {
    const last = places.lastOf(channelId);
    const found = await messagesAfter(access, channelId, last, signal);
    if (signal.aborted) return;
    if (found === 'gone') places.forget(channelId);
    else if (found === null) places.couldNotRead(channelId, last);
    else {
      if (found.length > 0) yield found;
      places.wasRead(channelId);
    }
  }
}

/** Null: Discord could not be asked. */
async function messagesAfter(
  access: { readonly rest: DiscordRest; readonly selfId: string; readonly retryMs: number },
  channelId: string,
  last: string,
  signal: AbortSignal,
): Promise<readonly DiscordMessage[] | 'gone' | null> {
  for (let tries = 0; tries < maxTries && !signal.aborted; tries += 1) {
    try {
      return await readAfter(access, channelId, last, signal);
    } catch (error) {
      if (error instanceof DiscordError && error.kind === 'refused') return error.status === 401 ? null : 'gone';
      const waitMs = error instanceof DiscordError ? Math.min(error.retryAfterMs, 60_000) : 0;
      await pause(waitMs + access.retryMs * (tries + 1), signal);
    }
  }
  return null;
}

async function readAfter(
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
