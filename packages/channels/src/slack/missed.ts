import { isJsonObject } from '@lodge/domain';
import { idOf } from '../shared/plain.ts';
import { callSlack, listOf, SlackError } from './calls.ts';
import type { SlackApi } from './calls.ts';
import { maxPlaces } from '../shared/places.ts';
import type { Places } from '../shared/places.ts';
import { isLater, placeOf } from './places.ts';
import { slackMessageOf } from './reader.ts';
import type { SlackMessage } from './reader.ts';
import type { SlackSelf } from './verify.ts';

const pageMessages = 200;
const maxPages = 5;

interface Access {
  readonly api: SlackApi;
  readonly token: string;
  readonly self: SlackSelf;
}

/**
 * Conversations without a received message, which are read from the place of the whole connection. Null: Slack could not be
 * asked now.
 */
export async function otherPlaces(
  access: Access,
  places: Places,
  signal: AbortSignal,
): Promise<readonly (readonly [id: string, last: string])[] | null> {
  const listed = await otherChannels(access, signal);
  if (listed === null) return null;
  const known = new Set(places.all().map(([id]) => id));
  const unknown = listed.filter((id) => !known.has(id)).slice(0, maxPlaces);
  return unknown.map((id) => [id, places.since] as const);
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

/** The messages of a conversation after the last that was taken, oldest first. */
export async function messagesAfter(
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
