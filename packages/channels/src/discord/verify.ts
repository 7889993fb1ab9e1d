import { ChannelFailure } from '@lodge/ports';
import type { ChannelSecrets, Verified } from '@lodge/ports';
import { accountOfToken } from '@lodge/domain';
import type { ChannelIdentity, ChannelReason } from '@lodge/domain';
import { plainName } from '../shared/plain.ts';
import { isSnowflake } from './places.ts';
import { failureOf } from './reasons.ts';
import { DiscordRest } from './rest.ts';
import type { DiscordApi } from './rest.ts';

/** Rejects with a `ChannelFailure`. */
export async function verifyDiscord(
  api: DiscordApi,
  credentials: ChannelSecrets,
  signal: AbortSignal,
): Promise<Verified> {
  const rest = new DiscordRest(api, discordToken(credentials));
  try {
    const identity = await whoAmI(rest, signal);
    return { identity, accountKey: accountKeyOf(credentials, identity) };
  } catch (error) {
    throw failureOf(error);
  } finally {
    rest.end();
  }
}

/** A token names the application, whose id is not always the bot's. */
export const accountKeyOf = (credentials: ChannelSecrets, { id }: ChannelIdentity): string =>
  accountOfToken('discord', credentials) ?? id;

/** By its shape, before Discord is asked: each wrong token counts against the address. Throws `ChannelFailure`. */
export function discordToken({ botToken: given = '' }: ChannelSecrets): string {
  const token = given.startsWith('Bot ') ? given.slice(4) : given;
  if (/^[\w-]{10,100}\.[\w-]{4,20}\.[\w-]{20,100}$/.test(token)) return token;
  if (/^\d{15,20}$/.test(token))
    throw failed(
      'wrong_kind_of_credential',
      'The botToken is an id of the application. Give the token of its Bot page.',
    );
  if (/^[\w-]{32}$/.test(token))
    throw failed('wrong_kind_of_credential', 'The botToken is a client secret. Give the token of the Bot page.');
  if (/^[0-9a-f]{64}$/.test(token))
    throw failed('wrong_kind_of_credential', 'The botToken is a public key. Give the token of the Bot page.');
  throw failed(
    'wrong_kind_of_credential',
    'The botToken is no bot token of Discord, which has three parts with dots between.',
  );
}

const failed = (code: ChannelReason['code'], message: string): ChannelFailure => new ChannelFailure({ code, message });

export async function whoAmI(rest: DiscordRest, signal: AbortSignal): Promise<ChannelIdentity> {
  const user = (await rest.call('GET', '/users/@me', signal)) as Readonly<Record<string, unknown>> | null;
  const id = user?.['id'];
  if (!isSnowflake(id) || user?.['bot'] !== true) {
    throw failed('wrong_kind_of_credential', 'The botToken belongs to no bot. Give the token of the Bot page.');
  }
  return { id, name: plainName(user['global_name']) || plainName(user['username'], id) };
}
