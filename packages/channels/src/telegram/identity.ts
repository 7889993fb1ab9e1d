import { asObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { plainName, textOf } from '../shared/plain.ts';
import { TelegramError } from './api.ts';

export interface BotIdentity {
  readonly id: number;
  readonly username: string;
}

export interface Bot extends BotIdentity {
  /** As it is shown: its name and its address. */
  readonly name: string;
  /** In groups it is given only what is meant for it. */
  readonly hasPrivacyMode: boolean;
}

/** From what `getMe` gives. Throws a `TelegramError` when that is another bot than the token's. */
export function botOf(me: unknown, token: string): Bot {
  const user = asObject(me);
  const id = user?.['id'];
  if (!user || typeof id !== 'number' || String(id) !== idOfToken(token)) {
    throw new TelegramError({ description: 'the reply is of no bot' });
  }
  const username = textOf(user['username'], 64);
  const shown = plainName(user['first_name'], username, 100);
  return {
    id,
    username,
    name: username === '' ? shown : `${shown} (@${plainName(username)})`,
    hasPrivacyMode: user['can_read_all_group_messages'] === false,
  };
}

/** The number before the colon is the bot's id. */
export const idOfToken = (token: string): string => token.slice(0, token.indexOf(':'));

/** Where the last connection had got to. A bot counts for itself, so the place of another one is none. */
export function offsetOf(cursor: Json | null, token: string): number | null {
  const offset = cursor?.['offset'];
  return cursor?.['bot'] === idOfToken(token) && Number.isSafeInteger(offset) ? (offset as number) : null;
}

export const cursorOf = (token: string, offset: number): Json => ({ bot: idOfToken(token), offset });
