/** Where an answer goes, as requests and replies have it. */
import type { AnswerDelivery } from '@lodge/contract';
import { Refusal, channelNamed } from '@lodge/domain';
import type { Delivery } from '@lodge/ports';

/** Refuses with `invalid_request` and the field. */
export function deliveryOf({ to, channel, conversation }: AnswerDelivery): Delivery {
  if (to !== 'channel') {
    const given = channel === undefined ? (conversation === undefined ? null : 'conversation') : 'channel';
    if (given === null) return { to, channel: null, conversation: null };
    throw new Refusal('invalid_request', `deliver.${given} is for deliver.to "channel" alone.`);
  }
  if (channel === undefined) throw new Refusal('invalid_request', 'deliver.channel is required.');
  if (conversation === undefined) throw new Refusal('invalid_request', 'deliver.conversation is required.');
  return { to, channel: channelNamed(channel)!, conversation };
}

export const deliveryRecord = ({ to, channel, conversation }: Delivery): AnswerDelivery => ({
  to,
  ...(channel !== null && { channel }),
  ...(conversation !== null && { conversation }),
});
