import { isJsonObject } from '@lodge/domain';
import { pause } from '../shared/backoff.ts';
import { idOf } from '../shared/plain.ts';
import { callSlack, listOf, SlackError } from './calls.ts';
import type { SlackApi } from './calls.ts';
import { isLater, maxPlaces, placeOf, tsOf } from './places.ts';
import type { Places } from './places.ts';
import { slackMessageOf } from './reader.ts';
import type { SlackMessage } from './reader.ts';
import type { SlackSelf } from './verify.ts';

const pageMessages = 200;
const maxPages = 5;
const maxTries = 4;

/** Time that a message may take from Slack's clock to its history and to ours. */
const marginMs = 60_000;

interface Access {
  readonly api: SlackApi;
  readonly token: string;
  readonly self: SlackSelf;
  readonly retryMs: number;
}

/** Conversations of a glance: the most recent ones, in which somebody most likely writes next. */
const glancedPlaces = 3;

/** As `missedMessages`, of few conversations that were taken before. */
export async function* glancedMessages(
  access: Access,
  places: Places,
  signal: AbortSignal,
): AsyncGenerator<readonly SlackMessage[]> {
  for (const [id, ts] of places.all().slice(0, glancedPlaces)) {
    const found = await messagesAfter(access, id, ts, signal);
    if (signal.aborted) return;
    if (Array.isArray(found) && found.length > 0) yield found;
  }
}

/**
 * Messages in the histories of recent conversations after the last received place, oldest first, one conversation after the
 * other. A conversation that cannot be read any more is forgotten. Conversations without a received message are read from
 * the place of the whole connection; the places then move up to the beginning of this reading.
 */
export async function* missedMessages(
  access: Access,
  places: Places,
  signal: AbortSignal,
): AsyncGenerator<readonly SlackMessage[]> {
  const since = tsOf(Date.now() - marginMs);
  const known = places.all();
  const listed = await otherChannels(access, signal);
  const others = (listed ?? []).filter((id) => !known.some(([each]) => each === id));
  const unknown = others.slice(0, maxPlaces).map((id) => [id, places.since] as const);
  for (const [id, ts] of [...known, ...unknown]) {
    const found = await messagesAfter(access, id, ts, signal);
    if (signal.aborted) return;
    if (found === 'gone') places.forget(id);
    else if (found === null) places.couldNotRead(id, ts);
    else {
      if (found.length > 0) yield found;
      places.wasRead(id);
    }
  }
  if (listed !== null && isLater(since, places.since)) places.since = since;
}

/** Conversations that the bot is in, people who write to it first. Null: Slack could not be asked now. */
async function otherChannels({ api, token }: Access, signal: AbortSignal): Promise<readonly string[] | null> {
  const ids: string[] = [];
  for (const types of ['im,mpim', 'public_channel,private_channel']) {
    try {
      const args = { types, exclude_archived: true, limit: 200 };
      const answer = await callSlack(api, token, 'users.conversations', args, signal);
      for (const each of listOf(answer['channels'], 200)) {
        const id = isJsonObject(each) ? idOf(each['id'], 40) : null;
        if (id !== null) ids.push(id);
      }
    } catch (error) {
      // Without the scope it never can be.
      if (!(error instanceof SlackError) || error.kind !== 'refused') return null;
    }
  }
  return ids;
}

/** Null: Slack could not be asked. */
async function messagesAfter(
  access: Access,
  id: string,
  ts: string,
  signal: AbortSignal,
): Promise<readonly SlackMessage[] | 'gone' | null> {
  for (let tries = 0; tries < maxTries && !signal.aborted; tries += 1) {
    try {
      return await readAfter(access, id, ts, signal);
    } catch (error) {
      if (error instanceof SlackError && error.kind === 'refused') return 'gone';
      const waitMs = error instanceof SlackError ? Math.min(error.retryAfterMs, 60_000) : 0;
      await pause(waitMs + access.retryMs * (tries + 1), signal);
    }
  }
  return null;
}

async function readAfter(
  { api, token, self }: Access,
  id: string,
  oldest: string,
  signal: AbortSignal,
): Promise<readonly SlackMessage[]> {
  const { channel, threadTs } = placeOf(id);
  const method = threadTs === null ? 'conversations.history' : 'conversations.replies';
  const found: SlackMessage[] = [];
  let cursor = '';
  for (let page = 0; page < maxPages; page += 1) {
    const asked = {
      channel,
      oldest,
      limit: pageMessages,
      ...(threadTs !== null && { ts: threadTs }),
      ...(cursor && { cursor }),
    };
    const answer = await callSlack(api, token, method, asked, signal);
    for (const each of listOf(answer['messages'], pageMessages)) {
      const message = slackMessageOf(each, self, channel);
      if (message && isLater(message.ts, oldest)) found.push(message);
    }
    const metadata = answer['response_metadata'];
    const next = isJsonObject(metadata) ? metadata['next_cursor'] : undefined;
    if (answer['has_more'] !== true || typeof next !== 'string' || next === '' || next.length > 1_000) break;
    cursor = next;
  }
  return found.toSorted((one, other) => Number(one.ts) - Number(other.ts));
}
