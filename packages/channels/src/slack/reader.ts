import { isJsonObject } from '@lodge/domain';
import { maxInboundChars, maxInboundFiles } from '@lodge/ports';
import type { InboundFile, InboundMessage } from '@lodge/ports';
import { cut, fileName, idOf, textOf } from '../shared/plain.ts';
import { listOf } from './calls.ts';
import type { SlackNames } from './names.ts';
import { isTs, placeId } from './places.ts';
import type { Place } from './places.ts';
import { mentions, readableText, withoutMention } from './text-in.ts';
import type { SlackSelf } from './verify.ts';

/** A message of an event or of a history, as far as it concerns an agent. */
export interface SlackMessage {
  readonly ts: string;
  /** Where it stands. */
  readonly place: Place;
  readonly isDirect: boolean;
  readonly isAddressed: boolean;
  readonly userId: string;
  readonly text: string;
  readonly files: readonly InboundFile[];
}

/** Messages that people write. Edits, joins, and what bots write have other subtypes, or a `bot_id`. */
const subtypes = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** Null: nothing for an agent. `channel` for messages of a history, which do not name it. */
export function slackMessageOf(event: unknown, self: SlackSelf, channelOfHistory?: string): SlackMessage | null {
  if (!isJsonObject(event) || (event['type'] !== 'message' && event['type'] !== 'app_mention')) return null;
  const channel = channelOfHistory ?? idOf(event['channel'], 40);
  const { ts, user, subtype, thread_ts: thread } = event;
  const userId = idOf(user, 40);
  if (channel === null || !isTs(ts) || userId === null || event['bot_id'] !== undefined) return null;
  if (!subtypes.has(subtype as string | undefined) || userId === self.userId || userId === 'USLACKBOT') return null;
  const isDirect = channel.startsWith('D');
  const text = textOf(event['text'], maxInboundChars);
  const threadTs = isTs(thread) && thread !== ts ? thread : null;
  return {
    ts,
    userId,
    text,
    isDirect,
    place: { channel, threadTs },
    isAddressed:
      isDirect || mentions(text, self.userId) || (threadTs !== null && event['parent_user_id'] === self.userId),
    files: filesOf(event['files']),
  };
}

/** Where its answer stands: outside direct messages and their groups, a message begins a thread. */
export function conversationOf({ place, ts, isDirect }: SlackMessage, isGroupDm: boolean): Place {
  return { channel: place.channel, threadTs: place.threadTs ?? (isDirect || isGroupDm ? null : ts) };
}

/** With names, which may have to be asked for. */
export async function inboundOf(
  message: SlackMessage,
  { self, names }: { readonly self: SlackSelf; readonly names: SlackNames },
  signal: AbortSignal,
): Promise<InboundMessage> {
  const { channel } = message.place;
  const name = await names.ofUser(message.userId, signal);
  const { title, isGroupDm } = message.isDirect ? direct : await names.ofChannel(channel, signal);
  return {
    id: `${channel}:${message.ts}`,
    conversation: {
      id: placeId(conversationOf(message, isGroupDm)),
      kind: message.isDirect ? 'direct' : 'group',
      title,
    },
    sender: { id: message.userId, name, isBot: false },
    addressed: message.isAddressed,
    text: cut(asCommand(readableText(withoutMention(message.text, self.userId))), maxInboundChars),
    sentAt: new Date(Number(message.ts) * 1000),
    files: message.files,
    replyTo: { ts: message.ts },
  };
}

/** Slack keeps lines that begin with a slash to itself, so people put a space before it. */
const asCommand = (text: string): string => (/^\s{1,5}\//.test(text) ? text.trimStart() : text);

const direct = { title: null, isGroupDm: false } as const;

/** Files are named by their id: where they lie is asked when they are fetched. */
function filesOf(value: unknown): InboundFile[] {
  const files: InboundFile[] = [];
  for (const each of listOf(value, maxInboundFiles)) {
    const id = isJsonObject(each) ? idOf(each['id'], 40) : null;
    if (!isJsonObject(each) || id === null || each['mode'] === 'tombstone') continue;
    const mediaType = mediaTypeOf(each['mimetype']);
    files.push({
      ref: id,
      name: fileName(each['name'], id),
      mediaType,
      bytes: typeof each['size'] === 'number' && each['size'] >= 0 ? each['size'] : null,
      kind: kindOf(each['subtype'], mediaType),
    });
  }
  return files;
}

function kindOf(subtype: unknown, mediaType: string): InboundFile['kind'] {
  if (subtype === 'slack_audio') return 'voice';
  return mediaType.startsWith('image/') ? 'image' : 'file';
}

function mediaTypeOf(value: unknown): string {
  const type = textOf(value, 100);
  return /^[\w.+-]{1,50}\/[\w.+-]{1,50}$/.test(type) ? type : 'application/octet-stream';
}
