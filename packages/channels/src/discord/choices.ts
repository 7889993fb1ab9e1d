/** Buttons below messages; docs.discord.com/developers/components/reference, .../interactions/receiving-and-responding. */
import { asObject, isChoiceToken, isJsonObject } from '@lodge/domain';
import type { Choice } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { Press, Pressed, RenderedText, SendTarget } from '@lodge/ports';
import {
  ButtonStyle,
  ComponentType,
  InteractionResponseType,
  InteractionType,
  MessageFlags,
} from 'discord-api-types/v10';
import { textOf } from '../shared/plain.ts';
import { isSnowflake } from './places.ts';
import { channelOf, nameOf } from './reader.ts';
import { sendFailureOf } from './reasons.ts';
import { DiscordError } from './rest.ts';
import type { DiscordRest } from './rest.ts';
import { roomOf } from './rooms.ts';
import type { Room } from './rooms.ts';

const maxInRow = 5;
const nobody = { allowed_mentions: { parse: [] } };

export function componentsOf(choices: readonly Choice[]): readonly object[] {
  const buttons = choices.map(({ token, label }) => ({
    type: ComponentType.Button,
    style: ButtonStyle.Secondary,
    label,
    custom_id: token,
  }));
  const rows: object[] = [];
  for (let at = 0; at < buttons.length; at += maxInRow) {
    rows.push({ type: ComponentType.ActionRow, components: buttons.slice(at, at + maxInRow) });
  }
  return rows;
}

const unknownMessage = 10_008;

/** Rejects with a `SendFailure`. */
export async function closeChoices(
  rest: () => DiscordRest,
  to: Pick<SendTarget, 'conversationId'>,
  id: string,
  { text }: RenderedText,
  signal: AbortSignal,
): Promise<void> {
  const channelId = channelOf(to.conversationId);
  if (channelId === null || !isSnowflake(id)) throw new SendFailure('refused', 'This is no message of Discord.');
  try {
    const body = { content: text, components: [], ...nobody };
    await rest().call('PATCH', `/channels/${channelId}/messages/${id}`, signal, { body });
  } catch (error) {
    if (!(error instanceof DiscordError && error.code === unknownMessage)) throw sendFailureOf(error);
  }
}

export interface DiscordPress {
  readonly interactionId: string;
  /** The right to answer, for 15 minutes: a secret. */
  readonly answerToken: string;
  readonly channelId: string;
  /** Null: the channel has to be asked for. */
  readonly room: Room | null;
  readonly press: Omit<Press, 'conversation'>;
}

/** Null for an interaction that is no press of a choice. */
export function pressOf(data: unknown): DiscordPress | null {
  if (!isJsonObject(data) || data['type'] !== InteractionType.MessageComponent) return null;
  const { id, channel_id: channelId, guild_id: guildId } = data;
  const member = asObject(data['member']);
  const user = asObject(member ? member['user'] : data['user']);
  const message = asObject(data['message']);
  const component = asObject(data['data']);
  const answerToken = textOf(data['token'], 501);
  const token = textOf(component?.['custom_id'], 65);
  if (!isSnowflake(id) || !isSnowflake(channelId) || !user || !isSnowflake(user['id'])) return null;
  if (!isSnowflake(message?.['id']) || component?.['component_type'] !== ComponentType.Button) return null;
  if (!/^[\w.=-]{1,500}$/.test(answerToken) || !isChoiceToken(token)) return null;
  return {
    interactionId: id,
    answerToken,
    channelId,
    room: guildId === undefined ? direct : roomIn(data['channel']),
    press: {
      token,
      sender: { id: user['id'], name: nameOf(user, member), isBot: user['bot'] === true },
      messageId: message['id'],
    },
  };
}

const direct: Room = { isDirect: true, parentId: null, title: null };

/** A thread whose parent is not named has to be asked for. */
function roomIn(channel: unknown): Room | null {
  const type = asObject(channel)?.['type'];
  if (typeof type !== 'number') return null;
  const room = roomOf(channel);
  return room.isThread && room.parentId === null ? null : room;
}

/** Tells the person alone. */
export async function answerPress(
  rest: DiscordRest,
  { interactionId, answerToken, channelId, press }: DiscordPress,
  { say, close }: Pressed,
  signal: AbortSignal,
): Promise<void> {
  const body = {
    type: InteractionResponseType.ChannelMessageWithSource,
    data: { content: say, flags: MessageFlags.Ephemeral, ...nobody },
  };
  const path = `/interactions/${interactionId}/${encodeURIComponent(answerToken)}/callback` as const;
  const told = rest.call('POST', path, signal, { body, auth: false });
  const closed = close
    ? rest.call('PATCH', `/channels/${channelId}/messages/${press.messageId}`, signal, { body: { components: [] } })
    : null;
  await Promise.allSettled([told, closed]);
}
