/** The name of the conversation in which an agent has its turns for a conversation of a channel. */
import type { ChannelName } from './channel.ts';

/** `id`: Lodge's own of the conversation. `session` rises when somebody begins anew. */
export const conversationOfTurns = (channel: ChannelName, id: string, session: number): string =>
  `channel:${channel}:${id}:${session}`;

/** Lodge's id of the channel's conversation that a turn was for; null where the turn was for none. */
export const conversationOfTurn = (name: string): string | null =>
  /^channel:[a-z]{1,32}:([\w-]{1,64}):\d{1,10}$/.exec(name)?.[1] ?? null;
