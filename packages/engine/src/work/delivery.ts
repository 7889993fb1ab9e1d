/** The end of a turn that nobody waits for: where its answer goes. */
import { firstBytes, maxEventAnswerBytes } from '@lodge/domain';
import type { ChannelName, DeliverTarget } from '@lodge/domain';
import { notify } from '@lodge/store/database';
import type { Transaction } from '@lodge/store/database';
import { sayInConversation } from '../channels/conversations.ts';
import type { Unsayable } from '../channels/conversations.ts';
import type { TurnEnd } from './kind.ts';

const undelivered: Readonly<Record<Unsayable, string>> = {
  no_conversation: 'The agent answered, but the conversation that the answer goes to is not there any more.',
  not_allowed:
    'The agent answered, but the channel that the answer goes to is off, or its access lets in nobody of the conversation.',
};

interface Ended {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly deliverChannel: ChannelName | null;
  readonly deliverConversation: string | null;
}

/**
 * Queues the answer within the transaction that ended its piece, and tells of the change. Returns the end as it is then: an answer
 * that could not be delivered makes the piece failed, which `fail` writes.
 */
export async function deliverEnd(
  trx: Transaction,
  ended: Ended,
  end: TurnEnd,
  fail: (trx: Transaction, id: string, reason: string) => Promise<void>,
): Promise<TurnEnd> {
  const trouble = await deliverAnswer(trx, ended, end.answer);
  if (trouble !== null) await fail(trx, ended.id, trouble);
  // The agent may have another waiting piece.
  await notify(trx, ended.agentId, 'work');
  return trouble === null ? end : { ...end, outcome: 'failed', reason: trouble };
}

/** Returns the reason why the answer could not be delivered; null when it was, or goes into no conversation. */
async function deliverAnswer(
  trx: Transaction,
  { accountId, agentId, deliverChannel: channel, deliverConversation: conversationId }: Ended,
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
