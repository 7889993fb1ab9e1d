/** An answer's destination, in the form of requests and replies. */
import type { AnswerDelivery } from '@lodge/contract';
import { channelNamed } from '@lodge/domain';
import type { Delivery } from '@lodge/ports';

export function deliveryOf({ to, channel, conversation }: AnswerDelivery): Delivery {
  if (to !== 'channel') return { to, channel: null, conversation: null };
  // The contract requires both with a channel.
  return { to, channel: channelNamed(channel!)!, conversation: conversation! };
}

interface DeliverColumns {
  readonly deliverTo: Delivery['to'];
  readonly deliverChannel: Delivery['channel'];
  readonly deliverConversation: string | null;
}

export const deliveryRecord = (row: DeliverColumns): AnswerDelivery => ({
  to: row.deliverTo,
  ...(row.deliverChannel !== null && { channel: row.deliverChannel }),
  ...(row.deliverConversation !== null && { conversation: row.deliverConversation }),
});
