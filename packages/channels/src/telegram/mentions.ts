/** Whether a text names the bot. Only entities count, which Telegram makes: text in a code block or a link is no mention. */
import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import type { BotIdentity } from './identity.ts';

/** Entities that are looked at. Telegram makes at most 100 for a message. */
const maxEntities = 200;

export function withoutOwnMention(
  message: Json,
  bot: BotIdentity,
): { readonly text: string; readonly isAddressed: boolean; readonly isForOther: boolean } {
  const isText = typeof message['text'] === 'string';
  const text = isText ? message['text'] : message['caption'];
  if (typeof text !== 'string') return { text: '', isAddressed: false, isForOther: false };
  const entities = message[isText ? 'entities' : 'caption_entities'];
  let isAddressed = false;
  let isForOther = false;
  let begin = 0;
  for (const given of Array.isArray(entities) ? entities.slice(0, maxEntities) : []) {
    const entity = asObject(given);
    const { offset, length } = entity ?? {};
    if (!entity || !isPlace(offset) || !isPlace(length)) continue;
    const named = text.slice(offset, offset + Math.min(length, 100));
    if (!names(entity, named, bot)) {
      // As /stop@name_of_another_bot.
      if (entity['type'] === 'bot_command' && offset === 0 && named.includes('@')) isForOther = true;
      continue;
    }
    isAddressed = true;
    // A command keeps its name: /new@name_of_bot is one.
    if (entity['type'] !== 'bot_command' && text.slice(begin, offset).trim() === '') begin = offset + length;
  }
  return { text: begin === 0 ? text : text.slice(begin).replace(/^[\s,:]{0,20}/, ''), isAddressed, isForOther };
}

const isPlace = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

function names(entity: Json, named: string, bot: BotIdentity): boolean {
  switch (entity['type']) {
    case 'mention':
      return named.toLowerCase() === `@${bot.username.toLowerCase()}`;
    case 'bot_command':
      return named.toLowerCase().endsWith(`@${bot.username.toLowerCase()}`);
    case 'text_mention':
      return asObject(entity['user'])?.['id'] === bot.id;
    default:
      return false;
  }
}
