import type { ChannelDestination, Delivery, Unsayable } from '@lodge/ports';
import { snake } from '../database/database.ts';
import type { Transaction } from '../database/database.ts';
import { sayInConversation as say, whyUnsayable } from './say.ts';

export * from './consents.ts';
export type { TurnResult } from './answers.ts';
export { channelsOf, findChannel } from './channel-row.ts';
export { deleteChannel, isReady, lockChannel, reopenChannel } from './channels.ts';
export { decideSender, senderDecidedBy, sendersOf } from './senders.ts';
export type { ChannelPlace, ChannelSender } from './senders.ts';
export { storable } from './text.ts';
export type { ChannelTurns } from './turns.ts';

/** Returns null when an answer could be delivered now, or goes into no conversation. */
export async function whyUndeliverable(
  trx: Transaction,
  agent: { readonly accountId: string; readonly agentId: string },
  { channel, conversation: conversationId }: Delivery,
): Promise<Unsayable | null> {
  if (channel === null || conversationId === null) return null;
  return whyUnsayable(snake(trx), { ...agent, channel, conversationId });
}

/** Queues a text for a conversation, or returns why that cannot be. */
export const sayInConversation = (
  trx: Transaction,
  destination: ChannelDestination,
  text: string,
): Promise<'queued' | Unsayable> => say(snake(trx), destination, text);
