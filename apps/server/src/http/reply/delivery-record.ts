/** An answer's destination, in the form of requests and replies. */
import type { AnswerDelivery } from '@lodge/contract';
import { channelNamed } from '@lodge/domain';
import type { Delivery } from '@lodge/ports';

export function deliveryOf({ to, channel, conversation }: AnswerDelivery): Delivery {
  if (to !== 'channel') return { to, channel: null, conversation: null };
  // The contract requires both with a channel.
  return { to, channel: channelNamed(channel!)!, conversation: conversation! };
}

export const deliveryRecord = ({ to, channel, conversation }: Delivery): AnswerDelivery => ({
  to,
  ...(channel !== null && { channel }),
  ...(conversation !== null && { conversation }),
});
