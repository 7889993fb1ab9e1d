import { isJsonObject } from '@lodge/domain';
import { maxInboundChars, maxInboundFiles } from '@lodge/ports';
import type { InboundFile, InboundMessage } from '@lodge/ports';
import { cut, fileName, plainName, textOf } from '../shared/plain.ts';
import { isSnowflake } from './places.ts';
import type { Room } from './rooms.ts';

export interface DiscordMessage {
  readonly id: string;
  readonly channelId: string;
  /** An event tells; null of a message that was read over REST, which does not. */
  readonly isDirect: boolean | null;
  readonly author: { readonly id: string; readonly name: string };
  /** The agent is mentioned, or its message is answered. */
  readonly isForAgent: boolean;
  readonly text: string;
  readonly sentAt: Date;
  readonly files: readonly InboundFile[];
}

type Fields = Readonly<Record<string, unknown>>;

const listOf = (value: unknown, most: number): readonly Fields[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isJsonObject) : [];

/** A message, and an answer to one; all other types report joins, pins and the like. */
const messageTypes = new Set([0, 19]);

/** Null: nothing for an agent, or nothing that the bot may read. */
export function discordMessageOf(data: unknown, selfId: string, from: 'event' | 'history'): DiscordMessage | null {
  if (!isJsonObject(data) || !isJsonObject(data['author']) || !messageTypes.has(data['type'] as number)) return null;
  const { id, channel_id: channelId, guild_id: guildId, author } = data;
  if (!isSnowflake(id) || !isSnowflake(channelId) || !isSnowflake(author['id'])) return null;
  if (author['id'] === selfId || author['bot'] === true || data['webhook_id'] !== undefined) return null;
  const mentions = listOf(data['mentions'], 100);
  const answered = isJsonObject(data['referenced_message']) ? data['referenced_message']['author'] : null;
  const given = textOf(data['content'], maxInboundChars);
  const text = readable(withoutMention(given, selfId), mentions);
  const files = filesOf(data['attachments'], channelId, id);
  // Without the intent a message that does not address the agent comes empty.
  if (given === '' && files.length === 0) return null;
  return {
    id,
    channelId,
    isDirect: from === 'event' ? guildId === undefined : null,
    author: { id: author['id'], name: nameOf(author, data['member']) },
    isForAgent: mentions.some((each) => each['id'] === selfId) || (isJsonObject(answered) && answered['id'] === selfId),
    text: cut(text, maxInboundChars),
    sentAt: timeOf(id),
    files,
  };
}

export const placeId = (channelId: string, { parentId }: Room): string =>
  parentId === null ? channelId : `${parentId}/${channelId}`;

/** The channel to write in; null: the id is not this adapter's. */
export function channelOf(conversationId: string): string | null {
  const id = conversationId.slice(conversationId.indexOf('/') + 1);
  return isSnowflake(id) && conversationId.length <= 41 ? id : null;
}

export function inboundOf(message: DiscordMessage, room: Room): InboundMessage {
  return {
    id: message.id,
    conversation: {
      id: placeId(message.channelId, room),
      kind: room.isDirect ? 'direct' : 'group',
      title: room.isDirect ? null : room.title,
    },
    sender: { ...message.author, isBot: false },
    addressed: room.isDirect || message.isForAgent,
    text: message.text,
    sentAt: message.sentAt,
    files: message.files,
    replyTo: { id: message.id },
  };
}

export function nameOf(author: Fields, member: unknown): string {
  const nick = isJsonObject(member) ? plainName(member['nick']) : '';
  return nick || plainName(author['global_name']) || plainName(author['username'], String(author['id']));
}

const epochMs = 1_420_070_400_000;
const timeOf = (id: string): Date => new Date(Math.min(Number(BigInt(id) >> 22n) + epochMs, 8e14));

function withoutMention(text: string, selfId: string): string {
  const trimmed = text.trimStart();
  for (const mention of [`<@${selfId}>`, `<@!${selfId}>`]) {
    if (trimmed.startsWith(mention)) return trimmed.slice(mention.length).replace(/^[\s:,]{1,20}/, '');
  }
  return text;
}

/** Mentions of persons with their names: an id alone says nothing to the agent. */
function readable(text: string, mentions: readonly Fields[]): string {
  const names = new Map(
    mentions.filter(({ id }) => isSnowflake(id)).map((each) => [each['id'] as string, nameOf(each, each['member'])]),
  );
  return text.replaceAll(/<@!?(\d{1,20})>/g, (mention, id: string) => {
    const name = names.get(id);
    return name === undefined ? mention : `@${name}`;
  });
}

/** A file's address is good for a day only, so the message is named where a fresh one stands. */
function filesOf(value: unknown, channelId: string, messageId: string): InboundFile[] {
  const files: InboundFile[] = [];
  for (const each of listOf(value, maxInboundFiles)) {
    const { id, filename, size, content_type: type } = each;
    if (!isSnowflake(id)) continue;
    const mediaType = mediaTypeOf(type);
    files.push({
      ref: `${channelId}/${messageId}/${id}`,
      name: fileName(filename, id),
      mediaType,
      bytes: typeof size === 'number' && size >= 0 ? size : null,
      kind: kindOf(each['waveform'], mediaType),
    });
  }
  return files;
}

/** A voice message has the shape of its sound. */
function kindOf(waveform: unknown, mediaType: string): InboundFile['kind'] {
  if (typeof waveform === 'string') return 'voice';
  return mediaType.startsWith('image/') ? 'image' : 'file';
}

function mediaTypeOf(value: unknown): string {
  const [type = ''] = textOf(value, 100).split(';', 1);
  return /^[\w.+-]{1,50}\/[\w.+-]{1,50}$/.test(type) ? type : 'application/octet-stream';
}
