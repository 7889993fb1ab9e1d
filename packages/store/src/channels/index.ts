import type { ChannelDestination, Delivery, Unsayable } from '@lodge/ports';
import { snake } from '../database/database.ts';
import type { Transaction } from '../database/database.ts';
import { whyUndeliverable as why } from './deliver.ts';
import { sayInConversation as say } from './say.ts';

export { storable } from './text.ts';

/** Returns null when an answer could be delivered now, or goes into no conversation. */
export const whyUndeliverable = (
  trx: Transaction,
  agent: { readonly accountId: string; readonly agentId: string },
  deliver: Delivery,
): Promise<Unsayable | null> => why(snake(trx), agent, deliver);

/** Queues a text for a conversation, or returns why that cannot be. */
export const sayInConversation = (
  trx: Transaction,
  destination: ChannelDestination,
  text: string,
): Promise<'queued' | Unsayable> => say(snake(trx), destination, text);
