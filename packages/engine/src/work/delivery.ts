/** Delivers the answer of a turn that nobody waits for. */
import { firstBytes, maxEventAnswerBytes } from '@lodge/domain';
import type { ChannelName, DeliverTarget } from '@lodge/domain';
import type { Unsayable } from '@lodge/ports';
import { sayInConversation } from '@lodge/store/channels';
import type { Transaction } from '@lodge/store/database';

const undelivered: Readonly<Record<Unsayable, string>> = {
  no_conversation: 'The agent answered, but the conversation that the answer goes to is not there any more.',
  not_allowed:
    'The agent answered, but the channel that the answer goes to is off, or its access lets in nobody of the conversation.',
};

interface Answered {
  readonly accountId: string;
  readonly agentId: string;
  readonly deliverChannel: ChannelName | null;
  readonly deliverConversation: string | null;
}

/**
 * Queues the answer within the transaction that ends its work. Returns the reason why it could not be delivered; null when
 * it was, or goes into no conversation.
 */
export async function deliverAnswer(
  trx: Transaction,
  { accountId, agentId, deliverChannel: channel, deliverConversation: conversationId }: Answered,
  answer: string | null,
): Promise<string | null> {
  if (answer === null || answer.trim() === '' || channel === null || conversationId === null) return null;
  const said = await sayInConversation(trx, { accountId, agentId, channel, conversationId }, answer);
  return said === 'queued' ? null : undelivered[said];
}

/** Returns the event fields about the answer's destination. */
export const deliveryFacts = (to: DeliverTarget, answer: string | null) => ({
  deliver: to,
  ...(to === 'webhook' && { answer: firstBytes(answer ?? '', maxEventAnswerBytes) }),
});
