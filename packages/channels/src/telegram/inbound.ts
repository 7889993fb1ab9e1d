/** An update of the Bot API as a message. Source of the fields: core.telegram.org/bots/api#message. */
import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { maxInboundChars } from '@lodge/ports';
import type { InboundMessage } from '@lodge/ports';
import { cut, idOf, plainName, textOf } from '../shared/plain.ts';
import { filesOf } from './inbound-files.ts';
import type { BotIdentity } from './identity.ts';
import { withoutOwnMention } from './mentions.ts';

/** Null for what is no message of somebody: edits, joins, posts of channels, and shapes that are not Telegram's. */
export function messageOf(update: Json, bot: BotIdentity, now: () => number = Date.now): InboundMessage | null {
  const message = asObject(update['message']);
  const chat = asObject(message?.['chat']);
  const chatId = integerOf(chat?.['id']);
  const messageId = integerOf(message?.['message_id']);
  const sender = message && senderOf(message);
  if (!message || !chat || chatId === null || messageId === null || !sender) return null;
  const kind = kindOf(chat['type']);
  if (kind === null || chat['is_direct_messages'] === true || message['is_automatic_forward'] === true) return null;

  const files = filesOf(message, messageId);
  const said = withoutOwnMention(message, bot);
  if (said.isForOther) return null;
  const text = cut(said.text, maxInboundChars) || describe(message);
  if (text === '' && files.length === 0) return null;
  const thread = message['is_topic_message'] === true ? integerOf(message['message_thread_id']) : null;
  return {
    id: `${chatId}/${messageId}`,
    conversation: {
      id: thread === null ? String(chatId) : `${chatId}/${thread}`,
      kind,
      title: kind === 'group' ? textOf(chat['title']) || null : null,
    },
    sender,
    addressed: kind === 'direct' || said.isAddressed || isReplyTo(message, bot, thread),
    text,
    sentAt: timeOf(message['date'], now),
    files,
    replyTo: { message: messageId },
  };
}

export const integerOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);

export function kindOf(type: unknown): 'direct' | 'group' | null {
  if (type === 'private') return 'direct';
  return type === 'group' || type === 'supergroup' ? 'group' : null;
}

/** A sender for a whole chat (an anonymous administrator, a channel) cannot be told from others, and counts as a bot. */
export function senderOf(message: Json): InboundMessage['sender'] | null {
  const from = asObject(message['from']);
  const id = idOf(from?.['id']);
  if (!from || id === null) return null;
  const name = plainName(`${textOf(from['first_name'])} ${textOf(from['last_name'])}`, textOf(from['username']) || id);
  return { id, name, isBot: from['is_bot'] === true || asObject(message['sender_chat']) !== null };
}

/** The first message of a topic is named as replied to by all that answer nothing. */
function isReplyTo(message: Json, bot: BotIdentity, thread: number | null): boolean {
  const replied = asObject(message['reply_to_message']);
  if (!replied || (thread !== null && replied['message_id'] === thread)) return false;
  return asObject(replied['from'])?.['id'] === bot.id;
}

const latestTime = 8_640_000_000_000;

function timeOf(date: unknown, now: () => number): Date {
  const isTime = typeof date === 'number' && date > 0 && date < latestTime;
  return new Date(isTime ? date * 1_000 : now());
}

/** Describes a message without a text in a few words. */
function describe(message: Json): string {
  const sticker = asObject(message['sticker']);
  if (sticker) return `[sticker ${textOf(sticker['emoji'], 20)}]`;
  const contact = asObject(message['contact']);
  if (contact) return `[contact ${plainName(contact['first_name'])} ${plainName(contact['phone_number'], '', 40)}]`;
  const location = asObject(message['location']);
  if (location) return `[location ${Number(location['latitude'])}, ${Number(location['longitude'])}]`;
  const poll = asObject(message['poll']);
  return poll ? `[poll ${textOf(poll['question'], 300)}]` : '';
}
